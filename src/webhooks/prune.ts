import type { Database } from '../db/database.ts';
import { type Dropped, dropOldPartitions, makePartitions, type Retention } from '../db/partitions.ts';

export type PruneOptions = Retention;
export type PrunedWebhooks = Dropped;

/**
 * Removes deliveries that are older than the retention and have ended, with their attempts; a partition later the
 * events, unless an open delivery names one of them; and makes the partitions of the days to come.
 */
export async function pruneWebhooks(db: Database, options: PruneOptions): Promise<PrunedWebhooks> {
  await makePartitions(db, { minutes: options.partitionMinutes, note: () => options.onProgress?.() });
  return dropOldPartitions(db, options);
}

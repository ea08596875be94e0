import { type RawBuilder, sql } from 'kysely';
import type { Database } from './database.ts';
import { retryingConflicts } from './transaction.ts';

interface Bounds {
  readonly id: string;
  readonly oldest: Date;
  readonly newest: Date;
}

/**
 * Removes rows of a table partitioned by `created_at`, newest first, so that concurrent lists soon pass them. The times
 * of the oldest and the newest of them limit the partitions that are read.
 * @param owned the condition of an index whose next columns are `created_at` and maybe `id`
 * @returns how many; about `most` when there may be more
 */
export async function removeNewest(
  db: Database,
  table: 'events' | 'webhook_log',
  owned: RawBuilder<boolean>,
  most: number,
): Promise<number> {
  const { rows } = await sql<Bounds>`
    SELECT id, created_at AS oldest, max(created_at) OVER () AS newest FROM (
      SELECT id, created_at FROM ${sql.table(table)} WHERE ${owned} ORDER BY created_at DESC, id DESC LIMIT ${most}
    ) AS batch
    ORDER BY created_at, id LIMIT 1`.execute(db);
  const [bounds] = rows;
  if (bounds === undefined) return 0;
  const { numAffectedRows = 0n } = await retryingConflicts(() =>
    sql`DELETE FROM ${sql.table(table)}
      WHERE ${owned} AND created_at BETWEEN ${bounds.oldest} AND ${bounds.newest}
        AND (created_at, id) >= (${bounds.oldest}, ${bounds.id}::uuid)`.execute(db),
  );
  return Number(numAffectedRows);
}

import type { Logger } from 'pino';
import type { Database } from '../../db/database.ts';
import { releaseOthers, releaseSuspects } from '../deliveries/lost.ts';
import type { KnownEndpoints } from './known-endpoints.ts';

/** Losses whose others were released, so that each is released once. */
const MAX_REMEMBERED = 100;

/** What this process does for deliveries whose attempts were lost. */
export interface Suspects {
  /** One that was lost at this time, with others, was delivered. */
  delivered(lostAt: Date): void;
  /** Lets go on what may. @returns whether anything did */
  release(): Promise<boolean>;
}

export function createSuspects(
  db: Database,
  known: Pick<KnownEndpoints, 'willBeDue'>,
  logger: Logger,
): Suspects {
  const released = new Set<number>();
  return {
    delivered(lostAt) {
      const at = lostAt.getTime();
      if (released.has(at)) return;
      released.add(at);
      const [oldest] = released;
      if (released.size > MAX_REMEMBERED && oldest !== undefined) released.delete(oldest);
      releaseOthers(db, lostAt).catch((err: unknown) => {
        released.delete(at);
        logger.warn({ err }, 'what was lost with a delivered one not released');
      });
    },
    async release() {
      const free = await releaseSuspects(db);
      const now = performance.now();
      for (const { endpointId, workspaceId } of free) known.willBeDue(endpointId, workspaceId, now);
      return free.length > 0;
    },
  };
}

import { sql } from 'kysely';
import type { Database, Tx } from '../../db/database.ts';

/** First attempts of one endpoint that are open at once, in runs of their own and in bursts together. */
export const OPEN_FIRST_ATTEMPTS = 20;
/** Those of one burst: two bursts reach the endpoint's limit. */
export const OPEN_IN_A_BURST = OPEN_FIRST_ATTEMPTS / 2;
/** A first attempt that began longer ago no longer counts as open: it hangs, and must not hold others back for ever. */
export const OPEN_SECONDS = 30;
/** Deliveries of one burst. */
export const BURST_SIZE = 800;

/** Any number that no other advisory lock of the service uses. */
const CLAIM_LOCK = 7_281_901;

/** A transaction in which nobody else claims, so that two claims do not both count the same open attempts. */
export const whileClaiming = <Result>(db: Database, work: (tx: Tx) => Promise<Result>): Promise<Result> =>
  db.transaction().execute(async (tx) => {
    await sql`SELECT pg_advisory_xact_lock(${CLAIM_LOCK})`.execute(tx);
    return work(tx);
  });

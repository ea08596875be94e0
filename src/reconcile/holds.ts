import { sql } from 'kysely';
import { releaseHold } from '../credits/holds.ts';
import { inTransaction } from '../db/transaction.ts';
import { PAGE, type ReconcileDependencies, type RowPlace, type Step, type Walk, walkRows } from './rows.ts';

/**
 * Releases holds of jobs and AI operations that are gone or have ended. This code leaves none; a restored backup or
 * manual changes might. A wallet that cannot be written keeps no other workspace's credits.
 */
export async function releaseStrandedHolds(
  { db, minimumAgeMs, onError }: Pick<ReconcileDependencies, 'db' | 'minimumAgeMs' | 'onError'>,
  walk: Walk<RowPlace>,
): Promise<{ released: number } & Step<RowPlace>> {
  let released = 0;
  const stranded = (after: RowPlace) =>
    db
      .selectFrom('holds')
      .select(['id', 'run_id', 'created_at'])
      .where('status', '=', 'open')
      .where('created_at', '<', sql<Date>`now() - make_interval(secs => ${minimumAgeMs / 1_000})`)
      .where(sql<boolean>`(created_at, id) > (${after.createdAt}::timestamptz, ${after.id}::uuid)`)
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('jobs')
              .select('jobs.id')
              .whereRef('jobs.id', '=', 'holds.run_id')
              .where('jobs.ended_at', 'is', null),
          ),
        ),
      )
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('ai_operations')
              .select('ai_operations.id')
              .whereRef('ai_operations.id', '=', 'holds.run_id')
              .where('ai_operations.status', '=', 'open'),
          ),
        ),
      )
      .orderBy('created_at')
      .orderBy('id')
      .limit(PAGE)
      .execute();
  const last = await walkRows(walk, onError, stranded, async ({ run_id }) => {
    if (await inTransaction(db, (tx) => releaseHold(tx, run_id))) released += 1;
  });
  return { released, last };
}

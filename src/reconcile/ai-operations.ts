import { sql } from 'kysely';
import type { AiOperationId } from '../ids.ts';
import { releaseOperation } from '../suggestions/operations.ts';
import { cancelRun, runState } from '../temporal/workflow-client.ts';
import { PAGE, type ReconcileDependencies, type RowPlace, type Step, type Walk, walkRows } from './rows.ts';

/** A request waits at most 60 s, so none waits for an older operation. */
const ABANDONED_AFTER_MS = 90_000;

/**
 * Ends unfinished AI operations and releases their holds: those whose run has closed, and those too old for a request
 * to be waiting. None is started again: no one would get the result.
 * @returns how many were ended
 */
export async function endAbandonedOperations(
  { db, client, minimumAgeMs, onError }: ReconcileDependencies,
  walk: Walk<RowPlace>,
): Promise<{ ended: number } & Step<RowPlace>> {
  let ended = 0;
  const reconcileOne = async (operation: { id: AiOperationId; workflow_id: string; abandoned: boolean }) => {
    const state = await runState(client, operation.workflow_id);
    if (!operation.abandoned && (state === 'running' || state === 'unknown')) return;
    if (await releaseOperation(db, operation.id, 'failed', onError)) ended += 1;
    if (state === 'running') await cancelRun(client, operation.workflow_id);
  };
  const unfinished = (after: RowPlace) =>
    db
      .selectFrom('ai_operations')
      .select(['id', 'workflow_id', 'created_at'])
      .select(
        sql<boolean>`created_at < now() - make_interval(secs => ${ABANDONED_AFTER_MS / 1_000})`.as(
          'abandoned',
        ),
      )
      .where('status', '=', 'open')
      .where('created_at', '<', sql<Date>`now() - make_interval(secs => ${minimumAgeMs / 1_000})`)
      .where(sql<boolean>`(created_at, id) > (${after.createdAt}::timestamptz, ${after.id}::uuid)`)
      .orderBy('created_at')
      .orderBy('id')
      .limit(PAGE)
      .execute();
  const last = await walkRows(walk, onError, unfinished, reconcileOne);
  return { ended, last };
}

import { sql } from 'kysely';
import type { AiOperationId } from '../ids.ts';
import { releaseOperation } from '../suggestions/operations.ts';
import { cancelRun, runState } from '../temporal/runs.ts';
import type { ReconcileDependencies } from './jobs.ts';

const PAGE = 200;
/** A request waits for 60 s at most: whatever is older is in nobody's hands. */
const ABANDONED_AFTER_MS = 90_000;

/**
 * Ends unfinished AI operations and releases their holds: those whose run has closed, and those that nobody
 * can be waiting for any more, whatever their run does. None is ever started again: there is nobody to answer.
 * @returns how many were ended
 */
export async function endAbandonedOperations(dependencies: ReconcileDependencies): Promise<number> {
  const { db, client, minimumAgeMs, onProgress, onError } = dependencies;
  let ended = 0;
  const look = async (operation: { id: AiOperationId; workflow_id: string; abandoned: boolean }) => {
    const state = await runState(client, operation.workflow_id);
    if (!operation.abandoned && (state === 'running' || state === 'unknown')) return;
    if (await releaseOperation(db, operation.id, 'failed', onError)) ended += 1;
    if (state === 'running') await cancelRun(client, operation.workflow_id);
  };
  let last: { createdAt: Date; id: string } | null = null;
  for (let looked = 0; ; ) {
    let query = db
      .selectFrom('ai_operations')
      .select(['id', 'workflow_id', 'created_at'])
      .select(
        sql<boolean>`created_at < now() - make_interval(secs => ${ABANDONED_AFTER_MS / 1_000})`.as(
          'abandoned',
        ),
      )
      .where('status', '=', 'open')
      .where('created_at', '<', sql<Date>`now() - make_interval(secs => ${minimumAgeMs / 1_000})`)
      .orderBy('created_at')
      .orderBy('id')
      .limit(PAGE);
    if (last !== null) {
      query = query.where(
        sql<boolean>`(created_at, id) > (${last.createdAt}::timestamptz, ${last.id}::uuid)`,
      );
    }
    const operations = await query.execute();
    for (const operation of operations) {
      await look(operation).catch((error: unknown) => onError(operation.id, error));
      looked += 1;
      onProgress(looked);
    }
    const end = operations.at(-1);
    if (operations.length < PAGE || end === undefined) return ended;
    last = { createdAt: end.created_at, id: end.id };
  }
}

import { requirePermissions, type VerbContext } from '../../context.ts';
import { walletOf } from '../../credits/wallet.ts';
import type { Tx } from '../../db/database.ts';
import { uniqueViolation } from '../../db/errors.ts';
import { CHANGED, retryingChanged } from '../../db/retrying-changed.ts';
import { inTransaction } from '../../db/transaction.ts';
import { conflict } from '../../errors.ts';
import type { ArticleId } from '../../ids.ts';
import { admitJob, KEY_TAKEN, replay } from '../../jobs/admit.ts';
import { toJob } from '../../jobs/queries.ts';
import type { JobRuns } from '../../jobs/runs.ts';
import type { Job } from '../../jobs/schemas.ts';
import { JsonText, writeJson } from '../../json-text.ts';
import { refreshWorkflowId } from '../../temporal/ids.ts';
import {
  latestRefresh,
  type PreparedRefresh,
  prepareRefresh,
  type RefreshRequest,
  sourceGone,
} from './prepare.ts';
import type { RefreshEstimate, RefreshEstimateResponse } from './schemas.ts';
import { sourceIdOf } from './tag.ts';

export interface CreateRefresh extends RefreshRequest {
  readonly idempotencyKey?: string | undefined;
}

export type CreatedRefresh =
  | { reused: false; job: Job; estimate: RefreshEstimate }
  | { reused: true; job: Job; estimate: null };

type Context = VerbContext & { readonly runs: JobRuns };

/** The index that allows one open refresh per version. */
const ONE_REFRESH = 'jobs_refresh_key';

/** Changes and price of a refresh (articles.update, articles.generate). Nothing is reserved. */
export async function estimateRefresh(
  context: VerbContext,
  request: RefreshRequest,
): Promise<RefreshEstimateResponse> {
  requirePermissions(context.actor, 'articles.update', 'articles.generate');
  const { estimate } = await prepareRefresh(context, request);
  const wallet = await walletOf(context.db, context.actor.workspaceId);
  return { estimate, wallet, sufficient: wallet.available >= estimate.total };
}

/**
 * Queues the refresh of a version. One transaction writes the job with its plan, the audit entry and the hold; it does not
 * lock the article. The run starts after the commit.
 * @throws {ServiceError} as `prepareRefresh` and `admitJob`; CONFLICT `up_to_date`, `refresh_running` or `source_gone`
 */
export async function createRefresh(context: Context, input: CreateRefresh): Promise<CreatedRefresh> {
  requirePermissions(context.actor, 'articles.update', 'articles.generate');
  const { idempotencyKey: key } = input;
  return retryingChanged(async () => {
    try {
      const before = await inTransaction(context.db, (tx) => replayRefresh(tx, context, key));
      if (before !== null) return before;
      const prepared = await prepareRefresh(context, input);
      const admitted = await inTransaction(
        context.db,
        async (tx) => (await replayRefresh(tx, context, key)) ?? admit(tx, context, prepared, key),
      );
      if (admitted === CHANGED || !('run' in admitted)) return admitted;
      await context.runs.start(context.db, admitted.run);
      return { reused: false, job: toJob(admitted.run), estimate: prepared.estimate };
    } catch (error) {
      const violated = uniqueViolation(error);
      if (violated === ONE_REFRESH) {
        throw conflict(
          'A refresh of this version is under way already. Wait for it to end, or cancel it.',
          'refresh_running',
        );
      }
      if (violated !== KEY_TAKEN) throw error;
      return CHANGED;
    }
  });
}

/** {@link replay} without the article. */
async function replayRefresh(
  tx: Tx,
  context: VerbContext,
  key: string | undefined,
): Promise<(CreatedRefresh & { reused: true }) | null> {
  const replayed = await replay(tx, context, key);
  return replayed && { reused: true, job: replayed.job, estimate: null };
}

async function admit(
  tx: Tx,
  context: Context,
  {
    version,
    sourceId,
    sourceLanguage,
    released,
    bypassMemory,
    planned,
    oldSources,
    estimate,
    latest,
  }: PreparedRefresh,
  idempotencyKey: string | undefined,
): Promise<{ run: Awaited<ReturnType<typeof admitJob>> } | typeof CHANGED> {
  const { workspaceId } = context.actor;
  const { row } = version;
  const hold = (id: ArticleId) =>
    tx
      .selectFrom('articles')
      .select('id')
      .where('workspace_id', '=', workspaceId)
      .where('id', '=', id)
      .forKeyShare();
  await hold(sourceId).executeTakeFirstOrThrow(sourceGone);
  await hold(row.id).executeTakeFirst();
  // Detached since, or attached to another source.
  if ((await sourceIdOf(tx, { workspaceId, articleId: row.id })) !== sourceId) return CHANGED;
  // Another refresh has ended since the plan was made.
  if ((await latestRefresh(tx, row.id)) !== latest) return CHANGED;
  if (estimate.changedBlocks + estimate.changedFields + estimate.changedImages === 0) {
    throw conflict('The version is up to date with its source.', 'up_to_date');
  }
  const run = await admitJob(tx, context, {
    purpose: 'refresh',
    article: row,
    idempotencyKey,
    credits: estimate.total,
    bytes: planned.bytes,
    workflowId: refreshWorkflowId,
    events: () => [],
    audit: { action: 'translations.refresh_requested', details: { sourceArticleId: sourceId } },
    record: async (jobId) => {
      await tx
        .insertInto('translations')
        .values({
          job_id: jobId,
          workspace_id: workspaceId,
          source_article_id: sourceId,
          source_language: sourceLanguage,
          target_language: row.primary_language,
          snapshot: writeJson({
            plan: new JsonText(planned.plan),
            oldSources: new JsonText(oldSources),
            released,
            anew: bypassMemory,
            source: sourceId,
          }),
        })
        .execute();
    },
  });
  return { run };
}

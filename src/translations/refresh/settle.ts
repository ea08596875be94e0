import { sql } from 'kysely';
import { newAssetIds } from '../../articles/images.ts';
import { JOB_OWNED } from '../../articles/states.ts';
import { recordAudit } from '../../audit/record.ts';
import type { Author } from '../../context.ts';
import type { Database, Tx } from '../../db/database.ts';
import type { Proposal, UnitKey } from '../../document/refresh/types.ts';
import type { AppliedRefresh } from '../../document/tasks/refresh.ts';
import { ReassemblyError } from '../../document/translation/reassemble.ts';
import type { SourceAsset } from '../../document/translation/source.ts';
import { ServiceError } from '../../errors.ts';
import { type ArticleId, type JobId, newOrderedId, type ProposalId, type WorkspaceId } from '../../ids.ts';
import { isJobOpen, settleJob } from '../../jobs/run-state.ts';
import { inTheBackground } from '../../threads/share.ts';
import { markFinalizing } from '../mark-finalizing.ts';
import { refreshPrice } from '../price.ts';
import { isUntranslated, requireUsable } from '../report/judge.ts';
import { leaveOverlong } from '../report/overlong.ts';
import { keepReport } from '../report/report.ts';
import { takeOutPaid } from '../take-out-paid.ts';
import { isReleased } from './prepare.ts';
import { versionTask, withVersion } from './version.ts';
import { writeChange } from './write.ts';

/** The result of a run, and how it was requested. */
interface RefreshResult {
  readonly workspaceId: WorkspaceId;
  readonly articleId: ArticleId;
  readonly sourceId: ArticleId;
  readonly author: Author;
  readonly reserved: number;
  readonly heldBytes: number;
  /** JSON text. */
  readonly plan: string;
  /** See `PreparedRefresh`. */
  readonly oldSources: string;
  readonly released: boolean;
  readonly translations: ReadonlyMap<string, string | null>;
  /** Keys of texts that were left out or stayed untranslated. */
  readonly unpaid: ReadonlySet<string>;
  /** Ids of image copies, by the ids of their sources. */
  readonly copyIds: ReturnType<typeof newAssetIds>;
}

/**
 * Applies the result of a refresh to the version as it is now, or proposes it, and charges for what was delivered, in one
 * transaction. What a person has saved meanwhile stays.
 * @returns false, without a change, when the job had already ended (cancelled, failed or settled)
 */
export async function settleRefresh(db: Database, jobId: JobId): Promise<boolean> {
  if (!(await isJobOpen(db, jobId))) return false;
  await markFinalizing(db, jobId);
  await requireUsable(db, jobId);
  const result = await readResult(db, jobId);
  try {
    return await inTheBackground(result.workspaceId, () =>
      withVersion(db, result, applyPlan(jobId, result), async (tx, worked) => {
        const settled = await settleJob(tx, jobId, 'TRANSLATING', async () => {
          const { version, output } = await worked();
          if (!output.ok) throw new ReassemblyError(output.problem);
          const { row } = version;
          const because = { jobId };
          const { bytes } = await writeChange(tx, result.author, row, {
            sourceId: result.sourceId,
            changed: output.changed,
            because,
          });
          await storeProposals(tx, result, jobId, output);
          await recordAudit(tx, result.author, {
            action: 'translations.refreshed',
            targetType: 'article',
            targetId: row.id,
            details: {
              jobId,
              applied: output.changed.applied.length,
              proposed: output.proposals.length,
            },
          });
          await leaveOverlong(tx, jobId, output.overlong);
          await keepReport(tx, jobId);
          const { sent, weight } = output.delivered;
          return {
            bytesLeft: result.heldBytes - bytes,
            credits: refreshPrice(sent, weight, result.reserved),
          };
        });
        if (settled) await takeOutPaid(tx, jobId);
        return settled;
      }),
    );
  } catch (error) {
    // The article was deleted, and its job and hold with it.
    if (error instanceof ServiceError && error.code === 'RESOURCE_NOT_FOUND') return false;
    throw error;
  }
}

/** Applies the plan to the version. Proposes all of it when readers would see unreviewed text. */
const applyPlan = (
  jobId: JobId,
  { plan, oldSources, translations, unpaid, copyIds, released }: RefreshResult,
) =>
  versionTask('applyPlan', (version) => {
    const proposeAll = JOB_OWNED.includes(version.row.status) || (isReleased(version) && !released);
    const by = { jobId, at: new Date().toISOString() };
    const { content, provenance } = version;
    return [plan, oldSources, content, provenance, translations, unpaid, copyIds, proposeAll, by];
  });

async function readResult(db: Database, jobId: JobId): Promise<RefreshResult> {
  const job = await db
    .selectFrom('translations')
    .innerJoin('jobs', 'jobs.id', 'translations.job_id')
    .select([
      sql<string | null>`(snapshot -> 'plan')::text`.as('plan'),
      sql<string | null>`(snapshot -> 'oldSources')::text`.as('old_sources'),
      sql<boolean>`(snapshot -> 'released')::boolean`.as('released'),
      sql<readonly SourceAsset[]>`snapshot -> 'plan' -> 'copies'`.as('copies'),
      sql<ArticleId>`snapshot ->> 'source'`.as('source_id'),
      'jobs.workspace_id',
      'jobs.article_id',
      'jobs.reserved_credits',
      'jobs.held_bytes',
      'jobs.request_id',
    ])
    .where('job_id', '=', jobId)
    .executeTakeFirstOrThrow();
  const { plan, workspace_id: workspaceId } = job;
  if (plan === null) throw new Error(`job ${jobId} has no plan`);
  const segments = await db
    .selectFrom('translation_segments')
    .select(['key', 'target_text', isUntranslated.as('untranslated')])
    .where('job_id', '=', jobId)
    .where((eb) => eb.or([eb('target_text', 'is not', null), eb('outcome', '=', 'left')]))
    .execute();
  return {
    workspaceId,
    articleId: job.article_id,
    sourceId: job.source_id,
    author: { actor: { kind: 'system', workspaceId, jobId }, requestId: job.request_id ?? '' },
    reserved: job.reserved_credits,
    heldBytes: job.held_bytes,
    plan,
    oldSources: job.old_sources ?? '{}',
    released: job.released,
    translations: new Map(segments.map(({ key, target_text }) => [key, target_text])),
    unpaid: new Set(
      segments.flatMap(({ key, target_text, untranslated }) =>
        target_text === null || untranslated ? key : [],
      ),
    ),
    copyIds: newAssetIds(job.copies),
  };
}

/** Stores proposals, each in place of its unit's open one, and removes open ones of units that are settled. */
async function storeProposals(
  tx: Tx,
  { workspaceId, articleId, sourceId }: RefreshResult,
  jobId: JobId,
  { proposals, settled, changed }: AppliedRefresh,
): Promise<void> {
  const done: UnitKey[] = [...settled, ...changed.applied, ...proposals.map(({ key }) => key)];
  await sql`DELETE FROM proposals WHERE article_id = ${articleId} AND unit = ANY (${done}::text[])`.execute(
    tx,
  );
  // Lists are newest first, so the last proposal is inserted first.
  const rows = proposals.toReversed().map((proposal: Proposal) => ({
    id: newOrderedId<ProposalId>(),
    unit: proposal.key,
    proposal,
  }));
  await sql`
    INSERT INTO proposals (id, workspace_id, article_id, job_id, source_article_id, unit, proposal)
    SELECT id, ${workspaceId}, ${articleId}, ${jobId}, ${sourceId}, unit, proposal
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS made (id uuid, unit text, proposal jsonb)
  `.execute(tx);
}

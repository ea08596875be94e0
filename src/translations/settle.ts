import { sql } from 'kysely';
import { newAssetIds } from '../articles/images.ts';
import { retryingSlug } from '../articles/insert.ts';
import { JOB_OWNED } from '../articles/states.ts';
import { recordAudit } from '../audit/record.ts';
import type { Author } from '../context.ts';
import type { Database, Tx } from '../db/database.ts';
import type { AppliedRefresh } from '../document/tasks/refresh.ts';
import { ReassemblyError } from '../document/translation/reassemble.ts';
import { fieldKey, isOfBody, type SegmentKind } from '../document/translation/segments.ts';
import type { SourceAsset } from '../document/translation/source.ts';
import { ServiceError } from '../errors.ts';
import type { ArticleId, JobId, WorkspaceId } from '../ids.ts';
import { isJobOpen, settleJob } from '../jobs/run-state.ts';
import { inTheBackground } from '../threads/share.ts';
import { fillDraft } from './fill-draft.ts';
import { markFinalizing } from './mark-finalizing.ts';
import { refreshPrice, translationPrice } from './price.ts';
import { isReleased } from './refresh/prepare.ts';
import { storeProposals } from './refresh/store-proposals.ts';
import { type Version, versionTask, withVersion } from './refresh/version.ts';
import { writeChange } from './refresh/write.ts';
import { isUntranslated, requireUsable } from './report/judge.ts';
import { leaveOverlong } from './report/overlong.ts';
import { keepReport } from './report/report.ts';
import { takeOutPaid } from './take-out-paid.ts';

/** The result of a run, and how it was requested. */
interface RunResult {
  readonly workspaceId: WorkspaceId;
  readonly articleId: ArticleId;
  readonly sourceId: ArticleId;
  readonly isSourceGone: boolean;
  readonly isFirst: boolean;
  readonly author: Author;
  readonly reserved: number;
  readonly heldBytes: number;
  /** JSON text. */
  readonly plan: string;
  /** Priced words of a whole translation. */
  readonly words: number;
  /** See `PreparedRefresh`. */
  readonly oldSources: string;
  readonly released: boolean;
  readonly segments: readonly MadeSegment[];
  /** Ids of image copies, by the ids of their sources. */
  readonly copyIds: ReturnType<typeof newAssetIds>;
}

interface MadeSegment {
  readonly key: string;
  readonly kind: SegmentKind;
  readonly words: number;
  /** Null when it was left. */
  readonly target_text: string | null;
  readonly untranslated: boolean;
}

/** Segments that are not charged: left, or in another language. */
const isUnpaid = ({ target_text, untranslated }: MadeSegment): boolean =>
  target_text === null || untranslated;

/**
 * Writes the result of a run and charges for what was delivered, in one transaction: fills the draft of a first translation,
 * or changes a version as it is now and proposes the rest. What a person has saved in it meanwhile stays.
 * @returns false, without a change, when the job had already ended (cancelled, failed or settled)
 */
export async function settleTranslation(db: Database, jobId: JobId): Promise<boolean> {
  if (!(await isJobOpen(db, jobId))) return false;
  await markFinalizing(db, jobId);
  await requireUsable(db, jobId);
  const result = await readResult(db, jobId);
  try {
    return await inTheBackground(result.workspaceId, () =>
      retryingSlug(() =>
        withVersion(db, result, applyPlan(jobId, result), async (tx, worked) => {
          const settled = await settleJob(tx, jobId, 'TRANSLATING', async (target) => {
            const { version, output } = await worked();
            if (!output.ok) throw new ReassemblyError(output.problem);
            const bytes = result.isFirst
              ? await fillDraft(tx, result.author, target, result, output.changed)
              : await changeVersion(tx, jobId, version, result, output);
            await leaveOverlong(tx, jobId, output.overlong);
            await keepReport(tx, jobId);
            return { bytesLeft: result.heldBytes - bytes, credits: priceOf(result, output) };
          });
          if (settled) await takeOutPaid(tx, jobId);
          return settled;
        }),
      ),
    );
  } catch (error) {
    // The article was deleted, and its job and hold with it.
    if (error instanceof ServiceError && error.code === 'RESOURCE_NOT_FOUND') return false;
    throw error;
  }
}

/** Applies the plan to the draft or version. Proposes all of it when readers would see unreviewed text. */
const applyPlan = (jobId: JobId, { plan, oldSources, segments, isFirst, released, copyIds }: RunResult) => {
  const translations = new Map(segments.map(({ key, target_text }) => [key, target_text]));
  const unpaid = new Set(segments.filter(isUnpaid).map(({ key }) => key));
  return versionTask('applyPlan', (version) => {
    const isSeen = JOB_OWNED.includes(version.row.status) || (isReleased(version) && !released);
    const by = { jobId, at: new Date().toISOString() };
    const { content } = version;
    const provenance = isFirst ? null : version.provenance;
    return [plan, oldSources, content, provenance, translations, unpaid, copyIds, !isFirst && isSeen, by];
  });
};

/** A first translation costs the words of the source, less those of the body that are not charged. */
function priceOf(
  { isFirst, reserved, words, segments }: RunResult,
  { delivered, overlong }: AppliedRefresh,
): number {
  if (!isFirst) return refreshPrice(delivered.sent, delivered.weight, reserved);
  const unpaid = segments.filter(
    (segment) => isOfBody(segment.kind) && (isUnpaid(segment) || overlong.has(fieldKey(segment.key))),
  );
  const charged = unpaid.reduce((sum, segment) => sum - segment.words, words);
  return Math.min(reserved, translationPrice(charged));
}

/** Writes a refresh and its proposals; returns by how many bytes the version's images have grown. */
async function changeVersion(
  tx: Tx,
  jobId: JobId,
  { row }: Version,
  result: RunResult,
  output: AppliedRefresh,
): Promise<number> {
  const { author, sourceId } = result;
  const { changed, proposals } = output;
  const { bytes } = await writeChange(tx, author, row, { sourceId, changed, because: { jobId } });
  await storeProposals(tx, result, jobId, output);
  await recordAudit(tx, author, {
    action: 'translations.refreshed',
    targetType: 'article',
    targetId: row.id,
    details: { jobId, applied: changed.applied.length, proposed: proposals.length },
  });
  return bytes;
}

async function readResult(db: Database, jobId: JobId): Promise<RunResult> {
  const job = await db
    .selectFrom('translations')
    .innerJoin('jobs', 'jobs.id', 'translations.job_id')
    .select([
      sql<string | null>`(snapshot -> 'plan')::text`.as('plan'),
      sql<number>`(snapshot -> 'words')::integer`.as('words'),
      sql<string>`(snapshot -> 'oldSources')::text`.as('oldSources'),
      sql<boolean>`(snapshot -> 'released')::boolean`.as('released'),
      sql<readonly SourceAsset[]>`snapshot -> 'plan' -> 'copies'`.as('copies'),
      sql<ArticleId>`snapshot ->> 'source'`.as('sourceId'),
      sql<boolean>`source_article_id IS NULL`.as('isSourceGone'),
      'jobs.purpose',
      'jobs.workspace_id as workspaceId',
      'jobs.article_id as articleId',
      'jobs.reserved_credits as reserved',
      'jobs.held_bytes as heldBytes',
      'jobs.request_id',
    ])
    .where('job_id', '=', jobId)
    .executeTakeFirstOrThrow();
  const { plan, copies, purpose, request_id, ...rest } = job;
  if (plan === null) throw new Error(`job ${jobId} has no plan`);
  const segments = await db
    .selectFrom('translation_segments')
    .select(['key', 'kind', 'words', 'target_text', isUntranslated.as('untranslated')])
    .where('job_id', '=', jobId)
    .where((eb) => eb.or([eb('target_text', 'is not', null), eb('outcome', '=', 'left')]))
    .execute();
  return {
    ...rest,
    plan,
    segments,
    isFirst: purpose === 'translate',
    author: { actor: { kind: 'system', workspaceId: job.workspaceId, jobId }, requestId: request_id ?? '' },
    copyIds: newAssetIds(copies),
  };
}

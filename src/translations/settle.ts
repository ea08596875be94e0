import { sql } from 'kysely';
import { copiesOf, newAssetIds } from '../articles/images.ts';
import { lockAndChooseSlug, retryingSlug } from '../articles/insert.ts';
import { storeLinks } from '../articles/links/store.ts';
import { articleChanged } from '../articles/queries.ts';
import { renderingColumns } from '../articles/rendering.ts';
import { replaceContent } from '../articles/revisions/replace-content.ts';
import type { Database, Tx } from '../db/database.ts';
import { inTransaction } from '../db/transaction.ts';
import type { AssembledArticle } from '../document/tasks/tasks.ts';
import { ReassemblyError } from '../document/translation/reassemble.ts';
import { fieldKey, isOfBody } from '../document/translation/segments.ts';
import type { SourceAsset } from '../document/translation/source.ts';
import type { ArticleId, JobId } from '../ids.ts';
import { isJobOpen, type JobTarget, settleJob } from '../jobs/run-state.ts';
import { namedSlug, slugOfTranslation } from '../slug.ts';
import { doTask } from '../threads/pool.ts';
import { inTheBackground } from '../threads/share.ts';
import { addImages } from './add-images.ts';
import { markFinalizing } from './mark-finalizing.ts';
import { priceWithout } from './price.ts';
import { keepProvenance } from './provenance.ts';
import { isUntranslated, requireUsable } from './report/judge.ts';
import { leaveOverlong } from './report/overlong.ts';
import { keepReport } from './report/report.ts';
import { takeOutPaid } from './take-out-paid.ts';

/** What the transaction writes, prepared before it takes a lock. */
interface TranslationResult {
  readonly requestId: string;
  /** Null when the source was deleted meanwhile. */
  readonly sourceId: ArticleId | null;
  readonly article: AssembledArticle;
  readonly language: string;
  /** Copies of the source's images. */
  readonly images: readonly SourceAsset[];
  /** The charge when texts were left out or stayed untranslated; null for all reserved credits. */
  readonly credits: number | null;
}

/**
 * Writes the translated article, the copies of its images, the charge and the job's end in one transaction.
 * @returns false, without a change, when the job had already ended (cancelled, failed or settled)
 */
export async function settleTranslation(db: Database, jobId: JobId): Promise<boolean> {
  if (!(await isJobOpen(db, jobId))) return false;
  await markFinalizing(db, jobId);
  await requireUsable(db, jobId);
  const result = await assemble(db, jobId);
  return retryingSlug(() => inTransaction(db, (tx) => settle(tx, jobId, result)));
}

async function assemble(db: Database, jobId: JobId): Promise<TranslationResult> {
  const { snapshot, assets, target_language, workspace_id, request_id, source_article_id, reserved_credits } =
    await db
      .selectFrom('translations')
      .innerJoin('jobs', 'jobs.id', 'translations.job_id')
      .select([
        sql<string | null>`translations.snapshot::text`.as('snapshot'),
        sql<readonly SourceAsset[]>`translations.snapshot -> 'assets'`.as('assets'),
        'source_article_id',
        'target_language',
        'jobs.workspace_id',
        'jobs.request_id',
        'jobs.reserved_credits',
      ])
      .where('job_id', '=', jobId)
      .executeTakeFirstOrThrow();
  if (snapshot === null) throw new Error(`job ${jobId} has no snapshot`);
  const segments = await db
    .selectFrom('translation_segments')
    .select(['key', 'kind', 'target_text', 'outcome', 'words', isUntranslated.as('untranslated')])
    .where('job_id', '=', jobId)
    .execute();
  const translations = new Map<string, string | null>();
  for (const { key, target_text, outcome } of segments) {
    if (target_text === null && outcome !== 'left')
      throw new Error(`job ${jobId}: segment ${key} is not translated`);
    translations.set(key, target_text);
  }
  const assetIds = newAssetIds(assets);
  const assembled = await inTheBackground(workspace_id, () =>
    doTask('assemble', snapshot, translations, assetIds, { jobId, at: new Date().toISOString() }),
  );
  if (!assembled.ok) throw new ReassemblyError(assembled.problem);
  const { article } = assembled;
  let unpaidWords = 0;
  for (const { key, kind, target_text, words, untranslated } of segments) {
    const isLeft = target_text === null || article.overlong.has(fieldKey(key));
    if ((isLeft || untranslated) && isOfBody(kind)) unpaidWords += words;
  }
  const described = assets.map((asset) => ({
    ...asset,
    altText: article.altTexts.get(asset.id) ?? asset.altText,
  }));
  return {
    requestId: request_id ?? '',
    sourceId: source_article_id,
    article,
    language: target_language,
    images: copiesOf(described, assetIds),
    credits: unpaidWords === 0 ? null : Math.min(reserved_credits, await priceWithout(snapshot, unpaidWords)),
  };
}

/** The base of the version's slug. Without a source to make it from it stays as the draft has it. */
async function slugBase(
  tx: Tx,
  target: JobTarget,
  { sourceId, article, language }: TranslationResult,
): Promise<string> {
  const rows = await tx
    .selectFrom('articles')
    .select(['id', 'slug'])
    .where('workspace_id', '=', target.workspace_id)
    .where('id', 'in', sourceId === null ? [target.id] : [sourceId, target.id])
    .execute();
  const slugOf = (wanted: ArticleId | null) => rows.find(({ id }) => id === wanted)?.slug;
  const source = slugOf(sourceId);
  return source === undefined
    ? (namedSlug(article.title) ?? slugOf(target.id) ?? 'article')
    : slugOfTranslation(article.title, source, language);
}

async function settle(tx: Tx, jobId: JobId, result: TranslationResult): Promise<boolean> {
  const settled = await settleJob(tx, jobId, 'TRANSLATING', async (target) => {
    const { article } = result;
    const bytesLeft = await addImages(tx, target, result.images);
    const slug = await lockAndChooseSlug(
      tx,
      { projectId: target.project_id, language: result.language, except: target.id },
      await slugBase(tx, target, result),
    );
    await replaceContent(tx, target.id, { kind: 'system', workspaceId: target.workspace_id, jobId })
      .set({
        ...renderingColumns(article.rendered),
        is_translation: true,
        title: article.title,
        slug,
        status: 'NEEDS_REVIEW',
        document: article.stored.json,
        meta_title: article.metaTitle,
        meta_description: article.metaDescription,
        target_keywords: article.targetKeywords,
        secondary_keywords: article.secondaryKeywords,
        word_count: article.stored.words,
        ...articleChanged,
      })
      .execute();
    await storeLinks(tx, result, target.id, null, article.rendered.places);
    await keepProvenance(tx, target, result.sourceId, { ...article, withoutSource: [] });
    await leaveOverlong(tx, jobId, article.overlong);
    await keepReport(tx, jobId);
    return { bytesLeft, ...(result.credits === null ? {} : { credits: result.credits }) };
  });
  if (settled) await takeOutPaid(tx, jobId);
  return settled;
}

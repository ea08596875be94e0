import { sql } from 'kysely';
import { bytesOf, copiesOf, imagesForBody, insertAssets, newAssetIds } from '../articles/images.ts';
import { lockAndChooseSlug, retryingSlug } from '../articles/insert.ts';
import { type PreparedBody, withRenderings } from '../articles/prepare.ts';
import { addressesOf, type Renderer, referencesOf, toRendering } from '../articles/render.ts';
import { replaceContent } from '../articles/revisions/keep.ts';
import { keepBlobs } from '../blobs/references.ts';
import { clockTimestamp } from '../db/clock.ts';
import type { Database, Tx } from '../db/database.ts';
import { doTask } from '../document/threads/pool.ts';
import { inTheBackground } from '../document/threads/share.ts';
import type { AssembledArticle } from '../document/threads/tasks.ts';
import { ReassemblyError } from '../document/translation/reassemble.ts';
import { isOfBody } from '../document/translation/segments.ts';
import type { SourceAsset } from '../document/translation/source.ts';
import type { ArticleId, JobId, WorkspaceId } from '../ids.ts';
import { isJobOpen, type JobTarget, settleJob } from '../jobs/run-state.ts';
import { priceWithout } from './price.ts';
import { keepProvenance } from './provenance.ts';
import { isUntranslated, requireUsable } from './report/judge.ts';
import { keepReport } from './report/report.ts';

/** What the transaction writes, worked out before it takes a lock. */
interface Result {
  readonly workspaceId: WorkspaceId;
  /** Null when it was deleted meanwhile. */
  readonly sourceId: ArticleId | null;
  readonly article: AssembledArticle;
  /** Rendered with the copies of the images, and the addresses of its links by now. */
  readonly body: PreparedBody;
  readonly language: string;
  /** Copies of the source's images. */
  readonly images: readonly SourceAsset[];
  /** What it costs when texts are left or untranslated; null for all that was reserved. */
  readonly credits: number | null;
}

/** Shows that nothing but writing the result is left. */
export async function markFinalizing(db: Database, jobId: JobId): Promise<void> {
  await db
    .updateTable('jobs')
    .set((eb) => ({
      current_step: 'finalize',
      progress: eb.fn<number>('greatest', ['progress', eb.val(95)]),
    }))
    .where('id', '=', jobId)
    .where('status', '=', 'TRANSLATING')
    .execute();
}

/**
 * Writes the translated article, the copies of its images, the charge and the job's end in one
 * transaction: either all of it is there, once, or none.
 * @returns false when the job had ended before (cancelled, failed or settled); nothing is changed then
 */
export async function settleTranslation(db: Database, jobId: JobId): Promise<boolean> {
  if (!(await isJobOpen(db, jobId))) return false;
  await markFinalizing(db, jobId);
  await requireUsable(db, jobId);
  const result = await assemble(db, jobId);
  return retryingSlug(() =>
    inTheBackground(result.workspaceId, () =>
      withRenderings(db, (tx, render) => settle(tx, jobId, result, render), [result.body]),
    ),
  );
}

async function assemble(db: Database, jobId: JobId): Promise<Result> {
  const {
    snapshot,
    assets,
    target_language,
    workspace_id,
    project_id,
    article_id,
    source_article_id,
    reserved_credits,
  } = await db
    .selectFrom('translations')
    .innerJoin('jobs', 'jobs.id', 'translations.job_id')
    .select([
      sql<string | null>`translations.snapshot::text`.as('snapshot'),
      sql<readonly SourceAsset[]>`translations.snapshot -> 'assets'`.as('assets'),
      'source_article_id',
      'target_language',
      'jobs.workspace_id',
      'jobs.project_id',
      'jobs.article_id',
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
  let unpaidWords = 0;
  for (const { key, kind, target_text, outcome, words, untranslated } of segments) {
    if (target_text === null && outcome !== 'left')
      throw new Error(`job ${jobId}: segment ${key} is not translated`);
    translations.set(key, target_text);
    if ((target_text === null || untranslated) && isOfBody(kind)) unpaidWords += words;
  }
  const linked = referencesOf(snapshot).articleIds;
  const articleIds = await targetVersions(db, workspace_id, linked, target_language);
  const assetIds = newAssetIds(assets);
  const shown = linked.map((id) => (articleIds.get(id) ?? id) as ArticleId);
  const references = {
    links: await addressesOf(db, project_id, shown),
    images: imagesForBody(copiesOf(assets, assetIds)),
  };
  const assembled = await inTheBackground(workspace_id, () =>
    doTask('assemble', snapshot, translations, { articleIds, assetIds }, references),
  );
  if (!assembled.ok) throw new ReassemblyError(assembled.problem);
  const { article } = assembled;
  const described = assets.map((asset) => ({
    ...asset,
    altText: article.altTexts.get(asset.id) ?? asset.altText,
  }));
  const images = copiesOf(described, assetIds);
  const body = {
    id: article_id,
    document: article.stored.json,
    references: { ...references, images: imagesForBody(images) },
    rendering: toRendering(article.stored.json, article.rendered),
  };
  return {
    workspaceId: workspace_id,
    sourceId: source_article_id,
    article,
    body,
    language: target_language,
    images,
    credits: unpaidWords === 0 ? null : Math.min(reserved_credits, await priceWithout(snapshot, unpaidWords)),
  };
}

/** For each of the articles: its version in the target language, where there is one. */
export async function targetVersions(
  db: Database,
  workspaceId: WorkspaceId,
  linked: readonly ArticleId[],
  language: string,
): Promise<Map<string, string>> {
  if (linked.length === 0) return new Map();
  const rows = await db
    .selectFrom('articles as source')
    .innerJoin('articles as version', 'version.translation_group_id', 'source.translation_group_id')
    .select(['source.id as sourceId', 'version.id as versionId'])
    .where('source.workspace_id', '=', workspaceId)
    .where('version.workspace_id', '=', workspaceId)
    .where('source.id', 'in', linked)
    .where('version.primary_language', '=', language)
    .execute();
  return new Map(rows.map((row) => [row.sourceId, row.versionId]));
}

async function settle(tx: Tx, jobId: JobId, result: Result, render: Renderer): Promise<boolean> {
  return settleJob(tx, jobId, 'TRANSLATING', async (target) => {
    const { article } = result;
    const bytesLeft = await addImages(tx, target, result.images);
    const slug = await lockAndChooseSlug(
      tx,
      { projectId: target.project_id, language: result.language, except: target.id },
      article.title,
    );
    const [{ rendering }] = await render(tx, [{ ...target, document: article.stored.json }]);
    await replaceContent(tx, target.id, { kind: 'system', workspaceId: target.workspace_id, jobId })
      .set({
        ...rendering,
        title: article.title,
        slug,
        status: 'NEEDS_REVIEW',
        document: article.stored.json,
        meta_title: article.metaTitle,
        meta_description: article.metaDescription,
        target_keywords: article.targetKeywords,
        secondary_keywords: article.secondaryKeywords,
        word_count: article.stored.words,
        updated_at: clockTimestamp,
      })
      .execute();
    await keepProvenance(tx, target, result.sourceId, article.provenance);
    await keepReport(tx, jobId);
    return { bytesLeft, ...(result.credits === null ? {} : { credits: result.credits }) };
  });
}

/**
 * Adds the copies of the source's images. Left out is one that was deleted so long ago that its bytes are gone (a block
 * that shows it renders as nothing), and the cover of a source when an editor gave the draft its own.
 * @returns the bytes of those left out
 */
export async function addImages(
  tx: Tx,
  target: Pick<JobTarget, 'id' | 'workspace_id'>,
  images: readonly SourceAsset[],
): Promise<number> {
  const kept = await keepBlobs(
    tx,
    images.map((image) => image.contentHash),
  );
  const ownCover = await tx
    .selectFrom('assets')
    .select('id')
    .where('article_id', '=', target.id)
    .where('role', '=', 'hero')
    .executeTakeFirst();
  const isAdded = ({ contentHash, role }: SourceAsset) =>
    kept.has(contentHash) && (role !== 'hero' || ownCover === undefined);
  await insertAssets(tx, target.workspace_id, target.id, images.filter(isAdded));
  return bytesOf(images.filter((image) => !isAdded(image)));
}

import { sql } from 'kysely';
import { lockAndChooseSlug, retryingSlug } from '../articles/insert.ts';
import { storeLinks } from '../articles/links/store.ts';
import { articleChanged } from '../articles/queries.ts';
import { renderingColumns } from '../articles/rendering.ts';
import { replaceContent } from '../articles/revisions/replace-content.ts';
import type { Database, Tx } from '../db/database.ts';
import { inTransaction } from '../db/transaction.ts';
import type { NewEvent } from '../events/catalog.ts';
import { recordEvents } from '../events/record.ts';
import type { JobId, WorkspaceId } from '../ids.ts';
import { isJobOpen, type JobTarget, settleJob } from '../jobs/run-state.ts';
import { ProviderError } from '../providers/types.ts';
import { slugify } from '../slug.ts';
import { doTask } from '../threads/pool.ts';
import { inTheBackground } from '../threads/share.ts';
import { checkArticle } from './check-article.ts';
import type { GenerationConfig } from './config.ts';
import { deliveredWords } from './delivered.ts';
import { noteFailure } from './failures.ts';
import { blocksOf, withoutMissing } from './images/blocks.ts';
import { type GenerationImage, readImages } from './images/images.ts';
import { addImages, type FinishedImage, finishedImages } from './images/settle.ts';
import { leadOf } from './lead.ts';
import type { Outline } from './outline.ts';
import { finalText, ofKind, readParts } from './parts.ts';
import { chargeOf, type GenerationPrice, isTooShort } from './price.ts';
import { enterStep } from './progress.ts';
import { verdictsOf } from './research/facts.ts';
import { type FinishedResearch, finishedResearch, keepResearch } from './research/settle.ts';
import { takeOutPaidParts } from './take-over.ts';
import { countOutline, takeOutOutlines } from './unpaid-outlines.ts';
import { readWork, required, type Work } from './write-part.ts';
import { assembleBody, type Citing } from './writing/assemble.ts';
import { withoutSourceList } from './writing/citations.ts';
import type { Names } from './writing/write-lead.ts';

/** A job's written parts, and the terms it was admitted with. */
async function readResult(db: Database, jobId: JobId) {
  const { price, researched, ...row } = await db
    .selectFrom('generations')
    .innerJoin('jobs', 'jobs.id', 'generations.job_id')
    .select([
      'generations.price',
      'generations.researched',
      'generations.config',
      'generations.delivered_words',
      'jobs.workspace_id',
      'jobs.project_id',
      'jobs.article_id',
      'jobs.request_id',
      'jobs.held_bytes',
      sql<string | null>`generations.document::text`.as('document'),
    ])
    .where('job_id', '=', jobId)
    .executeTakeFirstOrThrow();
  const parts = await readParts(db, jobId);
  const [outline] = ofKind(parts, 'outline');
  return {
    ...row,
    parts,
    /** The charge with so many images. */
    chargeFor: (images: number): number =>
      chargeOf(
        price as unknown as GenerationPrice,
        {
          images,
          factChecking: verdictsOf(parts).compared > 0,
          words: row.delivered_words ?? 0,
          research: researched,
        },
        row.config as GenerationConfig,
      ),
    outline: outline?.content as Outline,
    names: leadOf(parts).names,
  };
}

type GenerationResult = Awaited<ReturnType<typeof readResult>>;

/**
 * Assembles the parts, with the blocks of all images that are to be made, and checks the document like a save. After this only
 * the database can fail the run (contract.md G103).
 * @throws {ProviderError} when the document is not valid or less than half of what was ordered, with a message for customers
 */
export async function assembleGeneration(db: Database, jobId: JobId): Promise<void> {
  const work = await readWork(db, jobId);
  const { parts } = work;
  const ordered = work.brief.config;
  const [faq] = ofKind(parts, 'faq');
  const questions = faq === undefined ? null : { language: ordered.language, part: finalText(faq) };
  const sections = ofKind(parts, 'section').map(finalText);
  const outline = required(work.outline);
  const images = blocksOf(await readImages(db, jobId), outline);
  const citing = await citingOf(db, jobId, work);
  const body = assembleBody(outline, sections, questions, leadOf(parts).lead?.blocks, images, citing);
  const delivered = deliveredWords(withoutSourceList(body.blocks));
  if (isTooShort(delivered, ordered)) {
    const error = new ProviderError(
      'unusable',
      `The text has ${delivered} words, less than half of the ${ordered.wordCount} that were ordered. Nothing was charged. Try again, or order fewer words.`,
      { defects: ['length'] },
    );
    await noteFailure(db, jobId, error);
    throw error;
  }
  const checks = checkArticle(work);
  const document = JSON.stringify(body);
  const checked = await inTheBackground(work.workspaceId, () => doTask('check', document));
  if (!checked.ok) {
    const { pointer = '', message = '' } = checked.issues[0] ?? {};
    throw new Error(`The assembled document breaks a rule of its format at "${pointer}": ${message}`);
  }
  await db
    .updateTable('generations')
    .set({
      document: checked.stored.json,
      delivered_words: delivered,
      checks: JSON.stringify(checks),
    })
    .where('job_id', '=', jobId)
    // An attempt that was late knows less of the images.
    .where('document', 'is', null)
    .execute();
}

/** How the project has its articles cite; null for one that was written without notes. */
async function citingOf(db: Database, jobId: JobId, { notes, brief }: Work): Promise<Citing | null> {
  if (notes.length === 0) return null;
  const { citations } = await db
    .selectFrom('projects')
    .innerJoin('jobs', 'jobs.project_id', 'projects.id')
    .select('citations')
    .where('jobs.id', '=', jobId)
    .executeTakeFirstOrThrow();
  return { notes, mode: citations, language: brief.config.language };
}

/** Records the events of a settlement, and credits.consumed for a charge. */
async function recordSettlement(
  tx: Tx,
  jobId: JobId,
  result: GenerationResult,
  credits: number,
  events: readonly NewEvent[],
): Promise<void> {
  const origin = { actor: { workspaceId: result.workspace_id }, requestId: result.request_id ?? '' };
  const data = { articleId: result.article_id, jobId, credits };
  const charged: NewEvent[] = credits === 0 ? [] : [{ type: 'credits.consumed', data }];
  await recordEvents(tx, origin, [...events, ...charged]);
}

/**
 * Settles a run that stops after the outline: one transaction makes the article a DRAFT with its outline, ends the job and
 * charges, if there is a charge.
 * @returns false, without a change, when the job had already ended
 */
export async function settleOutline(db: Database, jobId: JobId): Promise<boolean> {
  if (!(await isJobOpen(db, jobId))) return false;
  const result = await readResult(db, jobId);
  const credits = result.chargeFor(0);
  const research = await finishedResearch(db, jobId, result.parts);
  return inTransaction(db, async (tx) => {
    const settled = await settleJob(tx, jobId, 'OUTLINING', async ({ id, workspace_id }) => {
      await keepResearch(tx, { workspaceId: workspace_id, articleId: id, jobId }, research);
      await tx
        .updateTable('articles')
        .set({
          status: 'DRAFT',
          outline: JSON.stringify(result.outline),
          outline_edited: false,
          ...articleChanged,
        })
        .where('id', '=', id)
        .execute();
      await recordSettlement(tx, jobId, result, credits, []);
      return { bytesLeft: result.held_bytes, credits };
    });
    if (settled) await countOutline(tx, { id: jobId, workspace_id: result.workspace_id });
    return settled;
  });
}

/**
 * Writes the article, the charge, the job's end and the events in one transaction.
 * @returns false, without a change, when the job had already ended
 */
export async function settleGeneration(db: Database, jobId: JobId): Promise<boolean> {
  if (!(await enterStep(db, jobId, 'finalize'))) return false;
  const result = await readResult(db, jobId);
  if (result.document === null) throw new Error(`job ${jobId} has no document`);
  const images = await readImages(db, jobId);
  const finished = finishedImages(images);
  const body = await finalBody(result.workspace_id, result.document, images, finished);
  const research = await finishedResearch(db, jobId, result.parts);
  return retryingSlug(() =>
    inTransaction(db, async (tx) => {
      const settled = await settle(tx, jobId, result, { ...body, finished, research });
      if (settled) {
        await takeOutOutlines(tx, result.article_id);
        await takeOutPaidParts(tx, jobId);
      }
      return settled;
    }),
  );
}

/** The article as it will stand: without the blocks of images that are not there, counted and rendered. */
async function finalBody(
  workspaceId: WorkspaceId,
  assembled: string,
  images: readonly GenerationImage[],
  finished: readonly FinishedImage[],
) {
  const missing = images.filter(({ number }) => finished.every((image) => image.number !== number));
  const document = JSON.stringify(withoutMissing(JSON.parse(assembled), missing));
  const checked = await inTheBackground(workspaceId, () => doTask('check', document));
  if (!checked.ok) throw new Error('A document without some of its images breaks a rule of its format.');
  const { json, words } = checked.stored;
  return {
    document: json,
    words,
    rendered: await inTheBackground(workspaceId, () => doTask('render', json)),
  };
}

const settle = (
  tx: Tx,
  jobId: JobId,
  result: GenerationResult,
  body: Awaited<ReturnType<typeof finalBody>> & {
    readonly finished: readonly FinishedImage[];
    readonly research: FinishedResearch;
  },
): Promise<boolean> =>
  settleJob(tx, jobId, 'FINALIZING', async (target) => {
    const names = await namesFor(tx, target, result.names ?? result.outline);
    const author = { kind: 'system', workspaceId: target.workspace_id, jobId } as const;
    await replaceContent(tx, target.id, author)
      .set({
        ...renderingColumns(body.rendered),
        ...names,
        status: 'NEEDS_REVIEW',
        document: body.document,
        word_count: body.words,
        outline: JSON.stringify(result.outline),
        outline_edited: false,
        made_title: null,
        made_slug: null,
        ...articleChanged,
      })
      .execute();
    await storeLinks(tx, { requestId: result.request_id ?? '' }, target.id, null, body.rendered.places);
    await keepResearch(tx, { workspaceId: target.workspace_id, articleId: target.id, jobId }, body.research);
    const images = await addImages(tx, target, jobId, body.finished);
    const credits = result.chargeFor(images.count);
    const data = { articleId: target.id, jobId, consumedCredits: credits };
    await recordSettlement(tx, jobId, result, credits, [
      { type: 'article.generation.completed', data },
      ...images.events,
    ]);
    return { bytesLeft: result.held_bytes - images.bytes, credits };
  });

/**
 * Title, slug and meta texts after a generation (contract.md G85): those that were made, unless a person has set them.
 */
async function namesFor(tx: Tx, { id, project_id }: JobTarget, made: Names) {
  const article = await tx
    .selectFrom('articles')
    .select([
      'title',
      'slug',
      'made_title',
      'made_slug',
      'meta_title',
      'meta_description',
      'primary_language',
    ])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  const scope = { projectId: project_id, language: article.primary_language, except: id };
  return {
    title: article.title === article.made_title ? made.title : article.title,
    slug:
      article.slug === article.made_slug
        ? await lockAndChooseSlug(tx, scope, slugify(made.slug, 'article'))
        : article.slug,
    meta_title: article.meta_title ?? made.metaTitle,
    meta_description: article.meta_description ?? made.metaDescription,
  };
}

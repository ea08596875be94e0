import type { Database } from '../db/database.ts';
import type { JobId } from '../ids.ts';
import { ProviderError } from '../providers/types.ts';
import { voiceFor } from './brand-voices/queries.ts';
import { bodyWords, FAQ_WORDS, type GenerationConfig } from './config.ts';
import { templateFor } from './content-templates/queries.ts';
import { scaleLengths } from './lengths.ts';
import type { Outline } from './outline.ts';
import { markAsked, OUTLINE_PART, planParts, readParts, storePart, unmarkAsked } from './parts.ts';
import { showWritten } from './progress.ts';
import { observed } from './repairs.ts';
import { planOutline } from './writing/plan-outline.ts';
import { writeFaq } from './writing/write-faq.ts';
import { writeSection } from './writing/write-section.ts';
import type {
  ArticleWriter,
  ArticleWriters,
  LinkableArticle,
  WritingBrief,
  WrittenPart,
} from './writing/writer.ts';

/** Words that an outline counts as where nobody pays for it. */
const OUTLINE_WORDS = 300;
/** Articles that a text may link to: those published last. */
const MAX_LINKABLE = 50;

export interface WritingDependencies {
  readonly db: Database;
  readonly writers: ArticleWriters;
}

/** A part that is to be made. */
export interface WritingTask {
  readonly jobId: JobId;
  readonly signal: AbortSignal;
}

type Work = Awaited<ReturnType<typeof readWork>>;

/** What a job writes from, as it was when it was admitted and validated. */
async function readWork(db: Database, jobId: JobId) {
  const { config, voice, template, ...rest } = await db
    .selectFrom('generations')
    .innerJoin('jobs', 'jobs.id', 'generations.job_id')
    .select(['config', 'voice', 'template', 'jobs.article_id', 'jobs.project_id'])
    .where('job_id', '=', jobId)
    .executeTakeFirstOrThrow();
  if (config === null) throw new Error(`job ${jobId} has no settings`);
  const brief: WritingBrief = { config: config as GenerationConfig, voice, template };
  const [outline, ...parts] = await readParts(db, jobId);
  return { ...rest, brief, outline: (outline?.content ?? null) as Outline | null, parts };
}

/**
 * Notes what the job writes from beside its settings: the brand voice and the template as they are now, and the name of
 * the writer.
 * @returns whether the outline is there already, because it was approved, and whether the run is to end with it
 */
export async function validateGeneration(
  { db, writers }: WritingDependencies,
  jobId: JobId,
): Promise<{ outlined: boolean; outlineOnly: boolean }> {
  const { workspace_id, project_id, config, purpose } = await db
    .selectFrom('generations')
    .innerJoin('jobs', 'jobs.id', 'generations.job_id')
    .select(['jobs.workspace_id', 'jobs.project_id', 'jobs.purpose', 'config'])
    .where('job_id', '=', jobId)
    .executeTakeFirstOrThrow();
  const { brandVoiceId, contentTemplateId, writingQuality } = config as GenerationConfig;
  const workspaceId = workspace_id;
  const voice = await voiceFor(db, { workspaceId, projectId: project_id, brandVoiceId });
  const template = await templateFor(db, { workspaceId, contentTemplateId });
  await db
    .updateTable('generations')
    .set({ voice, template, writer: writers[writingQuality].name })
    .where('job_id', '=', jobId)
    .execute();
  await planParts(db, jobId, OUTLINE_PART, [OUTLINE_WORDS]);
  const [outline] = await readParts(db, jobId);
  return { outlined: outline?.content != null, outlineOnly: purpose === 'outline' };
}

/** Makes the outline, if it is not there yet. */
export const makeOutline = (
  dependencies: WritingDependencies,
  { jobId, signal }: WritingTask,
): Promise<void> =>
  makePart(dependencies, jobId, OUTLINE_PART, async (writer, { brief }) => ({
    content: await planOutline(writer, { brief, signal }),
    words: OUTLINE_WORDS,
  }));

/** Plans a row for each section, and one for the questions. @returns how many there are */
export async function planSections(db: Database, jobId: JobId): Promise<number> {
  const { brief, outline } = await readWork(db, jobId);
  if (outline === null) throw new Error(`job ${jobId} has no outline`);
  const { config } = brief;
  const words = scaleLengths(outline.sections, bodyWords(config));
  if (config.faq) words.push(FAQ_WORDS);
  await planParts(db, jobId, OUTLINE_PART + 1, words);
  return words.length;
}

/** Writes a section or the questions, if they are not there yet; those before them are. */
export async function makeSection(
  dependencies: WritingDependencies,
  { jobId, part, signal }: WritingTask & { readonly part: number },
): Promise<void> {
  await makePart(dependencies, jobId, part, async (writer, work) => {
    const { brief, outline } = work;
    if (outline === null) throw new Error(`job ${jobId} has no outline`);
    const index = part - OUTLINE_PART - 1;
    const finished = work.parts.slice(0, index).map(({ content }) => content as WrittenPart);
    const request = { brief, outline, finished, signal };
    const written =
      index < outline.sections.length
        ? await writeSection(writer, {
            ...request,
            index,
            articles: await linkable(dependencies.db, work, brief.config.language),
          })
        : await writeFaq(writer, request);
    return { content: written, words: written.words };
  });
  await showWritten(dependencies.db, jobId);
}

/** Makes a part, unless it is there, or the job has ended: then nobody is asked. */
async function makePart(
  { db, writers }: WritingDependencies,
  jobId: JobId,
  part: number,
  make: (writer: ArticleWriter, work: Work) => Promise<{ content: object; words: number }>,
): Promise<void> {
  const work = await readWork(db, jobId);
  const there = part === OUTLINE_PART ? work.outline : work.parts[part - OUTLINE_PART - 1]?.content;
  if (there != null || !(await markAsked(db, jobId, part))) return;
  const { writer, repairs } = observed(writers[work.brief.config.writingQuality]);
  try {
    const made = await make(writer, work);
    await storePart(db, jobId, part, { ...made, repairs });
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    // What a writer refused is not work that anybody has to pay.
    await unmarkAsked(db, jobId, part);
    if (error.kind !== 'fatal' && error.kind !== 'refused') throw error;
    await db.updateTable('generations').set({ failure: error.message }).where('job_id', '=', jobId).execute();
    throw new ProviderError(error.kind, 'No text could be used; the job says why.', { cause: error });
  }
}

/** Why no text could be used, for the job's errorMessage; null when it is not the texts that it failed by. */
export async function failureOf(db: Database, jobId: JobId): Promise<string | null> {
  const generation = await db
    .selectFrom('generations')
    .select('failure')
    .where('job_id', '=', jobId)
    .executeTakeFirst();
  return generation?.failure ?? null;
}

/** The articles of the project that a text in this language may link to, those published last first. */
const linkable = (
  db: Database,
  { article_id, project_id }: Pick<Work, 'article_id' | 'project_id'>,
  language: string,
): Promise<LinkableArticle[]> =>
  db
    .selectFrom('articles')
    .select(['id', 'title'])
    .where('project_id', '=', project_id)
    .where('primary_language', '=', language)
    .where('status', '=', 'PUBLISHED')
    .where('id', '!=', article_id)
    .orderBy('published_at', 'desc')
    .limit(MAX_LINKABLE)
    .execute();

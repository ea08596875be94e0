import type { Database } from '../db/database.ts';
import { voiceFor } from '../guidance/brand-voices/queries.ts';
import { templateFor } from '../guidance/content-templates/queries.ts';
import type { ArticleId, JobId, ProjectId, WorkspaceId } from '../ids.ts';
import { ProviderError, type ProviderErrorKind } from '../providers/types.ts';
import { MAX_UNANSWERED } from './call-limits.ts';
import type { EndedCall } from './calls.ts';
import type { GenerationConfig } from './config.ts';
import { countCalls } from './count-calls.ts';
import { leaveOut, sectionsLeftOut } from './left-out.ts';
import { countOutlineWords, type Outline } from './outline.ts';
import {
  leavePartOut,
  type NewContent,
  OUTLINE_PART,
  ofKind,
  type PlannedPart,
  planParts,
  readParts,
  storePart,
} from './parts.ts';
import type { GenerationPrice } from './price.ts';
import { showWritten } from './progress.ts';
import { partLengths } from './target-lengths.ts';
import { lengthsOf } from './text-parts.ts';
import type { LinkableArticle, WritingBrief, WrittenPart } from './writing/brief.ts';
import { planOutline } from './writing/plan-outline.ts';
import { writeFaq } from './writing/write-faq.ts';
import { writeSection } from './writing/write-section.ts';
import type { ArticleWriter, ArticleWriters } from './writing/writer.ts';

/** Words that an outline counts as unpaid work at least. */
const OUTLINE_WORDS = 300;
/** Words that the editor's pass counts as. */
export const EDITS_WORDS = 300;
/** Articles that a text may link to: the latest published ones. */
const MAX_LINKABLE = 50;

export interface WritingDependencies {
  readonly db: Database;
  readonly writers: ArticleWriters;
  /** Called for each call that has ended. */
  readonly onCall?: (call: EndedCall) => void;
}

/** The job of a part to write. */
export interface WritingTask {
  readonly jobId: JobId;
  readonly signal: AbortSignal;
  /** Retries database work while the database is away, so that a response is not lost. */
  readonly persist: <Result>(work: () => Promise<Result>) => Promise<Result>;
}

export type Work = Awaited<ReturnType<typeof readWork>>;

/** The inputs of a job, as frozen when it was admitted and validated. */
export async function readWork(db: Database, jobId: JobId) {
  const { config, voice, template, linkable, requested_at } = await db
    .selectFrom('generations')
    .innerJoin('jobs', 'jobs.id', 'generations.job_id')
    .select(['config', 'voice', 'template', 'linkable', 'jobs.created_at as requested_at'])
    .where('job_id', '=', jobId)
    .executeTakeFirstOrThrow();
  if (config === null) throw new Error(`job ${jobId} has no settings`);
  const date = requested_at.toISOString().slice(0, 'yyyy-mm-dd'.length);
  const brief: WritingBrief = { config: config as GenerationConfig, date, voice, template };
  const parts = await readParts(db, jobId);
  const [outline] = ofKind(parts, 'outline');
  return {
    linkable: linkable ?? [],
    brief,
    outline: (outline?.content ?? null) as Outline | null,
    parts,
  };
}

/**
 * Freezes the job's brand voice, template, linkable articles and the writer's name.
 * @returns `outlined`: the run starts from an approved outline; `outlineOnly`: it ends after the outline; `research`: it
 *   researches first, since its price includes that
 */
export async function validateGeneration(
  { db, writers }: WritingDependencies,
  jobId: JobId,
): Promise<{ outlined: boolean; outlineOnly: boolean; research: boolean }> {
  const { config, price, purpose, ...job } = await db
    .selectFrom('generations')
    .innerJoin('jobs', 'jobs.id', 'generations.job_id')
    .select(['jobs.workspace_id', 'jobs.project_id', 'jobs.article_id', 'jobs.purpose', 'config', 'price'])
    .where('job_id', '=', jobId)
    .executeTakeFirstOrThrow();
  const { brandVoiceId, contentTemplateId, writingQuality, language } = config as GenerationConfig;
  const workspaceId = job.workspace_id;
  const voice = await voiceFor(db, { workspaceId, projectId: job.project_id, brandVoiceId });
  const template = await templateFor(db, { workspaceId, contentTemplateId });
  const linkable = JSON.stringify(await findLinkable(db, { ...job, language }));
  await db
    .updateTable('generations')
    .set({ voice, template, linkable, writer: writers[writingQuality].name })
    .where('job_id', '=', jobId)
    .execute();
  await planParts(db, jobId, [{ part: OUTLINE_PART, kind: 'outline', words: OUTLINE_WORDS }]);
  const [outline] = ofKind(await readParts(db, jobId), 'outline');
  const { research } = price as unknown as GenerationPrice;
  return { outlined: outline?.content != null, outlineOnly: purpose === 'outline', research: research > 0 };
}

/** Writes the outline, unless it is stored. */
export const makeOutline = (dependencies: WritingDependencies, task: WritingTask): Promise<void> =>
  writePart(dependencies, { ...task, part: OUTLINE_PART }, async (writer, { brief }, answered) => {
    const content = await planOutline(writer, { brief, answered, signal: task.signal });
    return { content, words: Math.max(OUTLINE_WORDS, countOutlineWords(content)) };
  });

/** Adds a planned row for each section, for the FAQ, the editor's pass and the lead. @returns number of sections, with the FAQ */
export async function planSections(db: Database, jobId: JobId): Promise<number> {
  const { brief, outline } = await readWork(db, jobId);
  if (outline === null) throw new Error(`job ${jobId} has no outline`);
  const lengths = lengthsOf(brief.config);
  const texts = partLengths(lengths, outline).map((words, index) => ({
    kind: index < outline.sections.length ? ('section' as const) : ('faq' as const),
    words,
  }));
  const planned = [
    ...texts,
    { kind: 'edits', words: EDITS_WORDS },
    { kind: 'lead', words: lengths.lead },
  ] as const;
  await planParts(
    db,
    jobId,
    planned.map((part, index): PlannedPart => ({ ...part, part: OUTLINE_PART + 1 + index })),
  );
  return texts.length;
}

/**
 * Writes a section or the FAQ, unless it is stored. Earlier parts must be written. A section that no call made usable is left
 * out where the article can do without it.
 */
export async function makeSection(
  dependencies: WritingDependencies,
  task: WritingTask & { readonly part: number },
): Promise<void> {
  const { jobId, part, signal } = task;
  const withoutIt: WithoutIt = async ({ brief, outline, parts }, kind) => {
    if (kind !== 'unusable' && kind !== 'refused') return false;
    const sections = ofKind(parts, 'section');
    const index = sections.findIndex((section) => section.part === part);
    if (outline === null || index < 0) return false;
    const numbers = sections.slice(index, index + sectionsLeftOut(outline, index)).map((own) => own.part);
    return leaveOut(dependencies.db, jobId, numbers, brief.config);
  };
  const write: Write = async (writer, work, answered) => {
    const { brief, outline } = work;
    if (outline === null) throw new Error(`job ${jobId} has no outline`);
    const sections = ofKind(work.parts, 'section');
    const index = sections.findIndex((section) => section.part === part);
    const before = index < 0 ? sections : sections.slice(0, index);
    const finished = before.map(({ content }) => content as WrittenPart);
    const request = { brief, outline, lead: lengthsOf(brief.config).lead, finished, answered, signal };
    const written =
      index < 0
        ? await writeFaq(writer, request)
        : await writeSection(writer, { ...request, index, articles: work.linkable });
    return { content: written, words: written.words, mended: written.mended };
  };
  await writePart(dependencies, task, write, withoutIt);
  await showWritten(dependencies.db, jobId);
}

export type Write = (writer: ArticleWriter, work: Work, answered: number) => Promise<NewContent>;

/** Stores that the article does without a part that failed so; false where it can't. */
export type WithoutIt = (work: Work, kind: ProviderErrorKind) => Promise<boolean>;

/** Writes a part, unless it is stored. */
export async function writePart(
  { db, writers, onCall }: WritingDependencies,
  { jobId, part, persist }: WritingTask & { readonly part: number },
  write: Write,
  withoutIt: WithoutIt = async () => false,
): Promise<void> {
  const work = await readWork(db, jobId);
  const planned = work.parts.find((each) => each.part === part);
  if (planned?.content != null) return;
  if (planned !== undefined && planned.unanswered >= MAX_UNANSWERED) {
    if (await persist(() => withoutIt(work, 'unavailable'))) return;
    throw new ProviderError(
      'unavailable',
      `The language model gave no whole response to ${MAX_UNANSWERED} calls for one part of the article. Nothing was charged; start it again later.`,
    );
  }
  const writer = countCalls(writers[work.brief.config.writingQuality], { db, jobId, part, persist, onCall });
  try {
    const written = await write(writer, work, planned?.calls ?? 0);
    await persist(() => storePart(db, jobId, part, written));
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    const { kind } = error;
    if (kind === 'retryable' || kind === 'misconfigured') throw error;
    if (await persist(() => withoutIt(work, kind))) return;
    const failure = db.updateTable('generations').set({ failure: error.message }).where('job_id', '=', jobId);
    await persist(() => failure.execute());
    throw new ProviderError(kind, 'No text could be used; the job says why.', { cause: error });
  }
}

/**
 * Writes the part of a kind, unless it is stored. The article does without one that fails (contract.md G74): only an engine
 * that is busy or refuses this deployment is asked again by the next attempt.
 */
export async function writeOptionalPart(
  dependencies: WritingDependencies,
  task: WritingTask,
  kind: 'edits' | 'lead',
  write: Write,
): Promise<void> {
  const [planned] = ofKind(await readParts(dependencies.db, task.jobId), kind);
  if (planned === undefined) throw new Error(`job ${task.jobId} has no part ${kind}`);
  const { part } = planned;
  await writePart(dependencies, { ...task, part }, write, async () => {
    await leavePartOut(dependencies.db, task.jobId, part);
    return true;
  });
  await showWritten(dependencies.db, task.jobId);
}

/** Why no text was usable, for the job's errorMessage; null when the job failed for another reason. */
export async function failureOf(db: Database, jobId: JobId): Promise<string | null> {
  const generation = await db
    .selectFrom('generations')
    .select('failure')
    .where('job_id', '=', jobId)
    .executeTakeFirst();
  return generation?.failure ?? null;
}

/** The project's articles that a text in this language may link to, latest publication first. */
const findLinkable = (
  db: Database,
  job: { workspace_id: WorkspaceId; project_id: ProjectId; article_id: ArticleId; language: string },
): Promise<LinkableArticle[]> =>
  db
    .selectFrom('articles')
    .select(['id', 'title'])
    .where('workspace_id', '=', job.workspace_id)
    .where('project_id', '=', job.project_id)
    .where('primary_language', '=', job.language)
    .where('status', '=', 'PUBLISHED')
    .where('id', '!=', job.article_id)
    .orderBy('published_at', 'desc')
    .limit(MAX_LINKABLE)
    .execute();

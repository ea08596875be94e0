import type { Database } from '../db/database.ts';
import { voiceFor } from '../guidance/brand-voices/queries.ts';
import { templateFor } from '../guidance/content-templates/queries.ts';
import type { JobId } from '../ids.ts';
import { ProviderError } from '../providers/types.ts';
import { MAX_UNANSWERED } from './call-limits.ts';
import type { EndedCall } from './calls.ts';
import { bodyWords, FAQ_WORDS, type GenerationConfig } from './config.ts';
import { countCalls } from './count-calls.ts';
import { articlesFor } from './linkable/assign.ts';
import { findNearest } from './linkable/nearest.ts';
import type { Outline } from './outline.ts';
import type { PartKind } from './part-kinds.ts';
import {
  OUTLINE_PART,
  ofKind,
  type Part,
  PLAN_PART,
  type PlannedPart,
  planParts,
  readParts,
  storePart,
} from './parts.ts';
import type { GenerationPrice } from './price.ts';
import { showWritten } from './progress.ts';
import { partKey, takeOverPart } from './take-over.ts';
import { scaleLengths } from './target-lengths.ts';
import type { WritingBrief, WrittenPart } from './writing/brief.ts';
import { makePlan } from './writing/make-plan.ts';
import type { StoredPlan } from './writing/plan.ts';
import { planOutline } from './writing/plan-outline.ts';
import { writeFaq } from './writing/write-faq.ts';
import { writeSection } from './writing/write-section.ts';
import type { ArticleWriter, ArticleWriters } from './writing/writer.ts';

/** Words that an outline counts as unpaid work, and a plan. */
const OUTLINE_WORDS = 300;
const PLAN_WORDS = 300;
/** Keywords of an article that its writer is told. */
const MAX_OWN_KEYWORDS = 25;

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

type Work = Awaited<ReturnType<typeof readWork>>;

/** The inputs of a job, as frozen when it was admitted and validated. */
async function readWork(db: Database, jobId: JobId) {
  const { config, voice, template, linkable, own_title, own_keywords, article_id, requested_at } = await db
    .selectFrom('generations')
    .innerJoin('jobs', 'jobs.id', 'generations.job_id')
    .select(['config', 'voice', 'template', 'linkable', 'own_title', 'own_keywords'])
    .select(['jobs.article_id', 'jobs.created_at as requested_at'])
    .where('job_id', '=', jobId)
    .executeTakeFirstOrThrow();
  if (config === null) throw new Error(`job ${jobId} has no settings`);
  const date = requested_at.toISOString().slice(0, 'yyyy-mm-dd'.length);
  const brief: WritingBrief = {
    config: config as GenerationConfig,
    title: own_title,
    keywords: own_keywords ?? [],
    date,
    voice,
    template,
  };
  const parts = await readParts(db, jobId);
  const [outline] = ofKind(parts, 'outline');
  const [plan] = ofKind(parts, 'plan');
  return {
    articleId: article_id,
    linkable: linkable ?? [],
    brief,
    outline: (outline?.content ?? null) as Outline | null,
    plan: (plan?.content as StoredPlan | null | undefined)?.plan ?? null,
    parts,
  };
}

/**
 * Freezes the job's brand voice, template, linkable articles, the writer's name, and the title and keywords that a person
 * gave the article (contract.md G67).
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
    .innerJoin('articles', 'articles.id', 'jobs.article_id')
    .select(['jobs.workspace_id', 'jobs.project_id', 'jobs.article_id', 'jobs.purpose', 'config', 'price'])
    .select(['title', 'made_title', 'target_keywords', 'secondary_keywords'])
    .where('job_id', '=', jobId)
    .executeTakeFirstOrThrow();
  const settings = config as GenerationConfig;
  const { brandVoiceId, contentTemplateId, writingQuality } = settings;
  const { workspace_id: workspaceId, project_id: projectId, article_id: articleId, title } = job;
  const voice = await voiceFor(db, { workspaceId, projectId, brandVoiceId });
  const template = await templateFor(db, { workspaceId, contentTemplateId });
  const linkable = await findNearest(db, { workspaceId, projectId, articleId, title, config: settings });
  await db
    .updateTable('generations')
    .set({
      voice,
      template,
      linkable: JSON.stringify(linkable),
      own_title: job.title === job.made_title ? null : job.title,
      own_keywords: [...job.target_keywords, ...job.secondary_keywords].slice(0, MAX_OWN_KEYWORDS),
      writer: writers[writingQuality].name,
    })
    .where('job_id', '=', jobId)
    .execute();
  await planParts(db, jobId, [{ part: OUTLINE_PART, kind: 'outline', words: OUTLINE_WORDS }]);
  const [outline] = ofKind(await readParts(db, jobId), 'outline');
  const { research } = price as unknown as GenerationPrice;
  return { outlined: outline?.content != null, outlineOnly: purpose === 'outline', research: research > 0 };
}

/** Writes the outline, unless it is stored. */
export const makeOutline = (dependencies: WritingDependencies, task: WritingTask): Promise<void> =>
  writePart(dependencies, task, {
    find: firstOf('outline'),
    write: async (writer, { brief }, answered) => ({
      content: await planOutline(writer, { brief, answered, signal: task.signal }),
      words: OUTLINE_WORDS,
    }),
  });

/** Plans the text, unless that is done. Without a usable plan the sections go by the outline (contract.md G66). */
export async function makeTextPlan(dependencies: WritingDependencies, task: WritingTask): Promise<void> {
  const { db } = dependencies;
  const store = (plan: StoredPlan) => ({ content: plan, words: PLAN_WORDS });
  await task.persist(() => planParts(db, task.jobId, [{ part: PLAN_PART, kind: 'plan', words: PLAN_WORDS }]));
  await writePart(dependencies, task, {
    find: firstOf('plan'),
    write: async (writer, { brief, outline }, answered) => {
      const plan = await makePlan(writer, {
        ...{ brief, outline: required(outline), answered, signal: task.signal },
      });
      return store({ plan });
    },
    otherwise: store({ plan: null }),
  });
}

/** Adds a planned row for each section, and one for the FAQ. @returns the number of sections, and whether there is a FAQ */
export async function planSections(db: Database, jobId: JobId): Promise<{ sections: number; faq: boolean }> {
  const { brief, outline } = await readWork(db, jobId);
  const { config } = brief;
  const sections = scaleLengths(required(outline).sections, bodyWords(config)).map(
    (words) => ({ kind: 'section', words }) as const,
  );
  const planned = [...sections, ...(config.faq ? [{ kind: 'faq', words: FAQ_WORDS } as const] : [])];
  await planParts(
    db,
    jobId,
    planned.map((part, index): PlannedPart => ({ ...part, part: PLAN_PART + 1 + index })),
  );
  return { sections: sections.length, faq: config.faq };
}

/** Writes a section, counted from 1, unless it is stored. Those before it must be written. */
export async function makeSection(
  dependencies: WritingDependencies,
  task: WritingTask & { readonly section: number },
): Promise<void> {
  const index = task.section - 1;
  await writePart(dependencies, task, {
    find: (parts) => ofKind(parts, 'section')[index],
    write: async (writer, work, answered) => {
      const finished = writtenSections(work).slice(0, index);
      const request = { ...textOf(work), finished, answered, signal: task.signal };
      const articles = articlesFor(request.outline, { index, finished }, work.linkable);
      const written = await writeSection(writer, { ...request, index, articles });
      return { content: written, words: written.words };
    },
  });
  await showWritten(dependencies.db, task.jobId);
}

/** Writes the FAQ, unless it is stored. The sections must be written. */
export async function makeFaq(dependencies: WritingDependencies, task: WritingTask): Promise<void> {
  await writePart(dependencies, task, {
    find: firstOf('faq'),
    write: async (writer, work, answered) => {
      const request = { ...textOf(work), finished: writtenSections(work), answered, signal: task.signal };
      const written = await writeFaq(writer, request);
      return { content: written, words: written.words };
    },
  });
  await showWritten(dependencies.db, task.jobId);
}

const firstOf =
  (kind: PartKind) =>
  (parts: readonly Part[]): Part | undefined =>
    ofKind(parts, kind)[0];

const writtenSections = ({ parts }: Work): WrittenPart[] =>
  ofKind(parts, 'section').map(({ content }) => content as WrittenPart);

const textOf = ({ brief, outline, plan }: Work) => ({ brief, outline: required(outline), plan });

function required(outline: Outline | null): Outline {
  if (outline === null) throw new Error('a job without an outline');
  return outline;
}

interface PartContent {
  readonly content: object;
  readonly words: number;
}

/** How a part is written. */
interface PartWork {
  readonly find: (parts: readonly Part[]) => Part | undefined;
  readonly write: (writer: ArticleWriter, work: Work, answered: number) => Promise<PartContent>;
  /** What is stored when no text can be used; without it the job fails. */
  readonly otherwise?: PartContent;
}

/** Writes a part, unless it is stored or can be taken over. */
async function writePart(
  { db, writers, onCall }: WritingDependencies,
  { jobId, persist }: WritingTask,
  { find, write, otherwise }: PartWork,
): Promise<void> {
  const work = await readWork(db, jobId);
  const planned = find(work.parts);
  if (planned === undefined) throw new Error(`job ${jobId} has no such part`);
  if (planned.content !== null) return;
  const { part, calls, unanswered } = planned;
  const uncounted = writers[work.brief.config.writingQuality];
  const key = partKey(work, planned, uncounted);
  if (await persist(() => takeOverPart(db, { jobId, part, key }))) return;
  const store = (written: PartContent) => persist(() => storePart(db, jobId, part, { ...written, key }));
  const writer = countCalls(uncounted, { db, jobId, part, persist, onCall });
  try {
    if (unanswered >= MAX_UNANSWERED) {
      throw new ProviderError(
        'unavailable',
        `The language model gave no whole response to ${MAX_UNANSWERED} calls for one part of the article. Nothing was charged; start it again later.`,
      );
    }
    await store(await write(writer, work, calls));
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    if (error.kind === 'retryable' || error.kind === 'misconfigured') throw error;
    if (otherwise !== undefined) return store(otherwise);
    await persist(() => noteFailure(db, jobId, error));
    throw new ProviderError(error.kind, 'No text could be used; the job says why.', { cause: error });
  }
}

/** Keeps why no text was usable, and the cause if an earlier part may share it (contract.md G89). */
async function noteFailure(
  db: Database,
  jobId: JobId,
  { kind, message, defects }: ProviderError,
): Promise<void> {
  const shared = (['language', 'length'] as const).find((cause) => defects.includes(cause)) ?? null;
  await db
    .updateTable('generations')
    .set({ failure: message, failure_cause: kind === 'refused' ? 'refusal' : shared })
    .where('job_id', '=', jobId)
    .execute();
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

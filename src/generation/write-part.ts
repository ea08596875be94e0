/** Writes one part of a generation, once. */
import type { Database } from '../db/database.ts';
import type { JobId } from '../ids.ts';
import { ProviderError } from '../providers/types.ts';
import { MAX_UNANSWERED } from './call-limits.ts';
import type { EndedCall } from './calls.ts';
import type { GenerationConfig } from './config.ts';
import { countCalls } from './count-calls.ts';
import { noteFailure } from './failures.ts';
import type { Outline } from './outline.ts';
import { type NewContent, ofKind, type Part, readParts, storePart } from './parts.ts';
import { briefNote, isApprovedRun, notesOfRun } from './research/notes.ts';
import { partKey, takeOverPart } from './take-over.ts';
import type { WritingBrief } from './writing/brief.ts';
import type { StoredPlan } from './writing/plan.ts';
import type { ArticleWriter, ArticleWriters } from './writing/writer.ts';

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
  const { config, voice, template, linkable, own_title, own_keywords, requested_at, ...job } = await db
    .selectFrom('generations')
    .innerJoin('jobs', 'jobs.id', 'generations.job_id')
    .select(['config', 'voice', 'template', 'linkable', 'own_title', 'own_keywords'])
    .select(['jobs.workspace_id', 'jobs.article_id', 'jobs.created_at as requested_at'])
    .where('job_id', '=', jobId)
    .executeTakeFirstOrThrow();
  if (config === null) throw new Error(`job ${jobId} has no settings`);
  const date = requested_at.toISOString().slice(0, 'yyyy-mm-dd'.length);
  const parts = await readParts(db, jobId);
  const notes = await notesOfRun(
    db,
    { jobId, workspaceId: job.workspace_id, articleId: job.article_id },
    parts,
  );
  const brief: WritingBrief = {
    config: config as GenerationConfig,
    title: own_title,
    keywords: own_keywords ?? [],
    date,
    voice,
    template,
    notes: notes.map(briefNote),
  };
  const [outline] = ofKind(parts, 'outline');
  const [plan] = ofKind(parts, 'plan');
  return {
    workspaceId: job.workspace_id,
    articleId: job.article_id,
    linkable: linkable ?? [],
    brief,
    /** Where the notes of the brief are from, by their numbers. */
    notes,
    outline: (outline?.content ?? null) as Outline | null,
    /** A person approved the outline: its words are the customer's. */
    isApproved: isApprovedRun(parts),
    plan: (plan?.content as StoredPlan | null | undefined)?.plan ?? null,
    parts,
  };
}

/** @throws {Error} without an outline: the step that makes it comes first */
export function required(outline: Outline | null): Outline {
  if (outline === null) throw new Error('a job without an outline');
  return outline;
}

/** How a part is written. */
export interface PartWork {
  readonly find: (parts: readonly Part[]) => Part | undefined;
  readonly write: (writer: ArticleWriter, work: Work, answered: number) => Promise<NewContent>;
  /** Stores that the job does without a part for which no text can be used; false where it can't. */
  readonly doWithout?: (error: ProviderError, work: Work & { readonly key: string }) => Promise<boolean>;
}

/** Takes a part over, where it can be. @returns whether it is written, and the inputs of the job */
export async function takenOver(
  { db, writers }: WritingDependencies,
  { jobId, persist }: WritingTask,
  find: PartWork['find'],
): Promise<{ readonly taken: boolean; readonly work: Work }> {
  const work = await persist(() => readWork(db, jobId));
  const planned = find(work.parts);
  if (planned === undefined) throw new Error(`job ${jobId} has no such part`);
  if (planned.content !== null) return { taken: true, work };
  const key = partKey(work, planned, writers[work.brief.config.writingQuality]);
  return { taken: await persist(() => takeOverPart(db, { jobId, part: planned.part, key })), work };
}

/** Writes a part, unless it is stored or can be taken over. */
export async function writePart(
  { db, writers, onCall }: WritingDependencies,
  { jobId, persist }: WritingTask,
  { find, write, doWithout }: PartWork,
): Promise<void> {
  const work = await readWork(db, jobId);
  const planned = find(work.parts);
  if (planned === undefined) throw new Error(`job ${jobId} has no such part`);
  if (planned.content !== null) return;
  const { part, calls, unanswered } = planned;
  const uncounted = writers[work.brief.config.writingQuality];
  const key = partKey(work, planned, uncounted);
  if (await persist(() => takeOverPart(db, { jobId, part, key }))) return;
  const writer = countCalls(uncounted, { db, jobId, workspaceId: work.workspaceId, part, persist, onCall });
  try {
    if (unanswered >= MAX_UNANSWERED) {
      throw new ProviderError(
        'unavailable',
        `The language model gave no whole response to ${MAX_UNANSWERED} calls for one part of the article. Nothing was charged; start it again later.`,
      );
    }
    const written = await write(writer, work, calls);
    await persist(() => storePart(db, jobId, part, { ...written, key }));
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    if (error.kind === 'retryable' || error.kind === 'misconfigured') throw error;
    if (doWithout !== undefined && (await persist(() => doWithout(error, { ...work, key })))) return;
    await persist(() => noteFailure(db, jobId, error));
    throw new ProviderError(error.kind, 'No text could be used; the job says why.', { cause: error });
  }
}

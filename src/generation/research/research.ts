/** Research before the outline: what to search for, what is read, and which of its words are notes (contract.md N20 to N23). */
import { sql } from 'kysely';
import { ProviderError } from '../../providers/types.ts';
import { RESEARCH_BOUNDS, SOURCES_DELIVERED } from '../../research/limits.ts';
import type { SourceText } from '../../research/notes/note.ts';
import { plainQuestions } from '../../research/prompts/questions.ts';
import type { Topic } from '../../research/prompts/shared.ts';
import { firstOf, leavePartOut, ofKind, type Part, readParts } from '../parts.ts';
import { takenOver, type WritingDependencies, type WritingTask, writePart } from '../write-part.ts';
import { requestNotes, requestQuestions, topicOf } from '../writing/request-research.ts';
import { gather, type ResearchDependencies } from './gather.ts';
import type { StoredNotes } from './notes.ts';
import { readPages } from './rows.ts';

/** Words that the questions, and the notes, count as unpaid work. */
export const QUESTIONS_WORDS = 100;
export const NOTES_WORDS = 300;

interface StoredQuestions {
  readonly questions: readonly string[];
}

/** Asks what to search for, unless that is stored. Without a usable response the topic and its keywords are searched for. */
export async function makeQuestions(dependencies: WritingDependencies, task: WritingTask): Promise<void> {
  await writePart(dependencies, task, {
    find: firstOf('questions'),
    write: async (writer, { brief }, answered) => {
      const content: StoredQuestions = {
        questions: await requestQuestions(writer, { brief, answered, signal: task.signal }),
      };
      return { content, words: QUESTIONS_WORDS };
    },
    doWithout: withoutPart(dependencies, task, 'questions'),
  });
}

/** The questions of a run: those that were asked, else the topic and its keywords. */
function questionsOf(parts: readonly Part[], topic: Topic): readonly string[] {
  const [part] = ofKind(parts, 'questions');
  const { questions } = (part?.content ?? {}) as Partial<StoredQuestions>;
  return questions ?? plainQuestions(topic);
}

/** Searches and reads, unless the notes are there or can be taken over. */
export async function findSources(
  dependencies: WritingDependencies & ResearchDependencies,
  task: WritingTask,
): Promise<void> {
  const { taken, work } = await takenOver(dependencies, task, firstOf('notes'));
  if (taken) return;
  await gather(dependencies, {
    ...task,
    workspaceId: work.workspaceId,
    purpose: 'research',
    bounds: RESEARCH_BOUNDS,
    queries: questionsOf(work.parts, topicOf(work.brief)),
    known: [],
  });
}

/** Has a model choose quotes of the pages that were read, unless that is done, and notes whether research has delivered. */
export async function takeNotes(dependencies: WritingDependencies, task: WritingTask): Promise<void> {
  const { db } = dependencies;
  const { jobId, signal, persist } = task;
  await writePart(dependencies, task, {
    find: firstOf('notes'),
    write: async (writer, { brief, parts }, answered) => {
      const pages = await persist(() => readPages(db, jobId, 'research'));
      if (pages.length === 0) throw new ProviderError('unusable', 'No page could be read.');
      const sources: SourceText[] = pages.map(({ id, title, text }) => ({ id, title, text }));
      const questions = questionsOf(parts, topicOf(brief));
      const content: StoredNotes = {
        notes: await requestNotes(writer, { brief, questions, sources, answered, signal }),
      };
      return { content, words: NOTES_WORDS };
    },
    doWithout: withoutPart(dependencies, task, 'notes'),
  });
  await persist(() => noteDelivered(dependencies.db, jobId));
}

/** Research has delivered once three sources were read and at least one note goes to the outline (contract.md N22). */
const noteDelivered = (db: WritingDependencies['db'], jobId: WritingTask['jobId']) =>
  sql`
    UPDATE generations SET researched = true
    WHERE job_id = ${jobId} AND EXISTS (SELECT FROM generation_parts AS notes
        WHERE notes.job_id = ${jobId} AND kind = 'notes' AND jsonb_array_length(content -> 'notes') > 0)
      AND (SELECT count(*) FROM generation_pages
        WHERE job_id = ${jobId} AND purpose = 'research' AND text IS NOT NULL) >= ${SOURCES_DELIVERED}`.execute(
    db,
  );

/** Goes on without a part that no response was usable for. It is not taken over by a later run. */
export const withoutPart =
  ({ db }: Pick<WritingDependencies, 'db'>, { jobId }: WritingTask, kind: Part['kind']) =>
  async (): Promise<boolean> => {
    const [part] = ofKind(await readParts(db, jobId), kind);
    if (part !== undefined) await leavePartOut(db, jobId, part.part);
    return true;
  };

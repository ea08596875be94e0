/** Asks a model what to search for, and which words of the pages that were read to note. */
import { checkNotes } from '../../research/notes/check-notes.ts';
import type { Note, SourceText } from '../../research/notes/note.ts';
import { questionsRequest, readQuestions } from '../../research/prompts/questions.ts';
import type { Topic } from '../../research/prompts/shared.ts';
import { notesRequest, readProposedNotes } from '../../research/prompts/take-notes.ts';
import type { Defect, WritingBrief } from './brief.ts';
import { BYTES_PER_TOKEN } from './prompts/fit.ts';
import { requestPart } from './request-part.ts';
import type { ArticleWriter } from './writer.ts';

/** Of the model's context, for the texts of sources; and their most characters. */
const SOURCES_SHARE = 0.45;
const MAX_SHOWN = 60_000;
/** Refusals that a model is told. */
const MAX_TOLD = 10;

interface ResearchCall {
  readonly brief: WritingBrief;
  /** Calls with a response in earlier attempts; 0 by default. */
  readonly answered?: number;
  readonly signal: AbortSignal;
}

/** What the article is about, as research goes by it. */
export const topicOf = ({ config, keywords, date }: WritingBrief): Topic => ({
  topic: config.topic,
  wishes: config.prompt ?? null,
  audience: config.audience ?? null,
  keywords: [
    ...(config.primaryKeyword === undefined ? [] : [config.primaryKeyword]),
    ...config.secondaryKeywords,
    ...keywords,
  ].filter((keyword) => keyword !== ''),
  language: config.language,
  date,
});

/**
 * Requests what to search for.
 * @throws {ProviderError} of the writer, or `unusable`; the signal's reason when aborted
 */
export async function requestQuestions(
  writer: ArticleWriter,
  { brief, answered = 0, signal }: ResearchCall,
): Promise<readonly string[]> {
  const topic = topicOf(brief);
  const request = questionsRequest(topic);
  const { value } = await requestPart<readonly string[]>({
    ask: (rejected) =>
      writer.ask({ kind: 'questions', brief, article: null, request, topic, signal, rejected }),
    check: (response) => {
      const questions = readQuestions(response);
      if (questions.length > 0) return { value: questions, defects: [] };
      return { value: null, defects: [defect('queries: None of them can be used.')] };
    },
    answered,
    what: 'the questions of research',
    signal,
  });
  return value;
}

/**
 * Requests quotes of pages; those that stand there word for word are notes (contract.md N8).
 * @param questions what the pages were searched for
 * @throws {ProviderError} of the writer, or `unusable`; the signal's reason when aborted
 */
export async function requestNotes(
  writer: ArticleWriter,
  {
    brief,
    questions,
    sources,
    answered = 0,
    signal,
  }: ResearchCall & { readonly questions: readonly string[]; readonly sources: readonly SourceText[] },
): Promise<readonly Note[]> {
  const room = charactersFor(sources, writer.contextTokens);
  const request = await notesRequest(topicOf(brief), questions, sources, room);
  const { value } = await requestPart<readonly Note[]>({
    ask: (rejected) =>
      writer.ask({ kind: 'notes', brief, article: null, request, sources, signal, rejected }),
    check: (response) => {
      const { notes, refused } = checkNotes(readProposedNotes(response), sources);
      if (notes.length > 0) return { value: notes, defects: [] };
      const told = refused.slice(0, MAX_TOLD).map(({ note, refusal }) => ({
        ...defect(`notes: ${refusal}`),
        given: note.quote.slice(0, 200),
      }));
      return { value: null, defects: told.length > 0 ? told : [defect('notes: None was given.')] };
    },
    answered,
    what: 'the notes of research',
    signal,
  });
  return value;
}

const defect = (problem: string): Defect => ({ code: 'shape', problem });

/** Characters of sources that a request has room for. */
function charactersFor(sources: readonly SourceText[], contextTokens: number): number {
  const text = sources.map((source) => source.text).join('');
  const bytes = contextTokens * BYTES_PER_TOKEN * SOURCES_SHARE;
  const perCharacter = Buffer.byteLength(text) / Math.max(1, text.length);
  return Math.min(MAX_SHOWN, Math.floor(bytes / perCharacter));
}

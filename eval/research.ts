import type { BriefNote, WritingBrief } from '../src/generation/writing/brief.ts';
import type { CitedSource } from '../src/generation/writing/citations.ts';
import { requestNotes, requestQuestions, topicOf } from '../src/generation/writing/request-research.ts';
import type { ArticleWriter } from '../src/generation/writing/writer.ts';
import { newId, type SourceId, type WorkspaceId } from '../src/ids.ts';
import { isUnusable } from '../src/providers/types.ts';
import type { Research } from '../src/research/create.ts';
import { RESEARCH_BOUNDS } from '../src/research/limits.ts';
import type { SourceText } from '../src/research/notes/note.ts';
import { plainQuestions } from '../src/research/prompts/questions.ts';
import { choosePages, interleaved } from '../src/research/reading/choose-pages.ts';

/** What research found for an article. */
export interface Researched {
  readonly pagesRead: number;
  /** By their numbers from 1. */
  readonly notes: readonly BriefNote[];
  /** Where each note is from. */
  readonly sources: readonly CitedSource[];
}

const NONE: Researched = { pagesRead: 0, notes: [], sources: [] };

/** Researches with the steps of a run, without a database: what fails in it leaves the article without notes. */
export async function research(
  writer: ArticleWriter,
  { search, readPage }: Pick<Research, 'search' | 'readPage'>,
  brief: WritingBrief,
  signal: AbortSignal,
): Promise<Researched> {
  const options = { workspaceId: newId<WorkspaceId>(), signal };
  const orElse = async <Value>(made: Promise<Value>, other: Value): Promise<Value> =>
    made.catch((error: unknown) => {
      if (isUnusable(error)) return other;
      throw error;
    });
  const questions = await orElse(requestQuestions(writer, { brief, signal }), plainQuestions(topicOf(brief)));
  const found: string[][] = [];
  for (const query of questions.slice(0, RESEARCH_BOUNDS.searches)) {
    found.push((await search(query, options)).map(({ url }) => url));
  }
  const { chosen } = choosePages(interleaved(found), [], RESEARCH_BOUNDS);
  const pages: (SourceText & CitedSource & { readonly publishedAt: Date | null })[] = [];
  for (const address of chosen) {
    const outcome = await readPage(address, options);
    if (outcome.ok) pages.push({ ...outcome.page, id: newId<SourceId>() });
  }
  if (pages.length === 0) return NONE;
  const quotes = await orElse(requestNotes(writer, { brief, questions, sources: pages, signal }), []);
  const noted = quotes.flatMap(({ sourceId, quote }) => {
    const page = pages.find(({ id }) => id === sourceId);
    return page === undefined ? [] : [{ page, quote }];
  });
  return {
    pagesRead: pages.length,
    notes: noted.map(({ page: { title, site, publishedAt }, quote }) => ({
      quote,
      title,
      site,
      published: publishedAt?.toISOString().slice(0, 'yyyy-mm-dd'.length) ?? null,
    })),
    sources: noted.map(({ page: { url, title, site } }) => ({ url, title, site })),
  };
}

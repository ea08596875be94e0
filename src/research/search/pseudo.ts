import { createRanking } from '../ranking/ranking.ts';
import { termsOf } from '../ranking/terms.ts';
import { MAX_QUERY, MAX_RESULTS, MAX_SNIPPET, type SearchEngine } from './engine.ts';
import type { FolderPage, ServedPages } from './pages.ts';

const TITLE_WEIGHT = 2;
/** Shorter words say little of what a page is about. */
const MIN_LETTERS = 4;
/** How many of the longer words of a query a page has to have. */
const LEAST_SHARED = 0.4;

const telling = (terms: readonly string[]): string[] => [
  ...new Set(terms.filter((term) => term.length >= MIN_LETTERS)),
];

/** Searches the pages that ship with the service: for the demo and the tests, without a network. */
export function createPseudoSearch(served: Pick<ServedPages, 'pages' | 'addressOf'>): SearchEngine {
  const indexes = [...Map.groupBy(served.pages, ({ language }) => language)].map(([language, pages]) => {
    const ranking = createRanking();
    const words = pages.map(({ title, paragraphs }) => {
      const [inTitle, inText] = [title, paragraphs.join('\n')].map((text) => termsOf(text, language));
      ranking.add([
        { terms: inTitle ?? [], weight: TITLE_WEIGHT },
        { terms: inText ?? [], weight: 1 },
      ]);
      return new Set([...(inTitle ?? []), ...(inText ?? [])]);
    });
    return { language, pages, words, ranking };
  });

  const find = (query: string): FolderPage[] =>
    indexes
      .flatMap(({ language, pages, words, ranking }) => {
        const terms = termsOf(query, language);
        const wanted = telling(terms);
        const isAbout = (at: number): boolean => {
          const shared = wanted.filter((term) => words[at]?.has(term) === true).length;
          return shared > 0 && shared >= wanted.length * LEAST_SHARED;
        };
        return ranking
          .best(terms, pages.length)
          .filter(({ at }) => isAbout(at))
          .flatMap(({ at, score }) => {
            const page = pages[at];
            return page === undefined ? [] : [{ page, score }];
          });
      })
      .sort((a, b) => b.score - a.score)
      .slice(0, MAX_RESULTS)
      .map(({ page }) => page);

  return {
    name: 'pseudo',
    async search(query, signal) {
      signal.throwIfAborted();
      return find(query.slice(0, MAX_QUERY)).map((page) => ({
        url: served.addressOf(page),
        title: page.title,
        snippet: (page.paragraphs[0] ?? '').slice(0, MAX_SNIPPET),
        publishedAt: page.publishedAt,
      }));
    },
  };
}

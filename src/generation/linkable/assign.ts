import { wordsIn } from '../../document/format/words.ts';
import type { Outline, OutlineSection } from '../outline.ts';
import type { LinkableArticle, WrittenPart } from '../writing/brief.ts';

const wordsOf = (text: string): Set<string> => new Set(wordsIn(text).map(({ word }) => word.toLowerCase()));

/** What a word of a section counts by where it stands. */
const weightsOf = ({ heading, keywords, purpose }: OutlineSection): Map<string, number> => {
  const weights = new Map<string, number>();
  for (const [text, weight] of [
    [purpose, 1],
    [keywords.join('\n'), 2],
    [heading, 3],
  ] as const) {
    for (const word of wordsOf(text)) weights.set(word, weight);
  }
  return weights;
};

/**
 * Gives each article to the section that shares most words with its title; words of few sections count for more
 * (contract.md G88). One that shares none goes to the section with the fewest. The same outline and articles give the same.
 */
function assignArticles(
  { sections }: Pick<Outline, 'sections'>,
  articles: readonly LinkableArticle[],
): (LinkableArticle & { readonly section: string })[] {
  const targets = sections.map((section) => ({ id: section.id, weights: weightsOf(section), given: 0 }));
  const sectionsWith = (word: string) => targets.filter(({ weights }) => weights.has(word)).length;
  return articles.flatMap((article) => {
    const words = [...wordsOf(article.title)].map((word) => ({ word, sections: sectionsWith(word) }));
    const fitOf = (weights: ReadonlyMap<string, number>): number =>
      words.reduce((fit, { word, sections }) => fit + (weights.get(word) ?? 0) / Math.max(1, sections), 0);
    const [best] = targets
      .map((target) => ({ target, fit: fitOf(target.weights) }))
      .toSorted((one, other) => other.fit - one.fit || one.target.given - other.target.given);
    if (best === undefined) return [];
    best.target.given += 1;
    return { ...article, section: best.target.id };
  });
}

/**
 * The articles that are offered to a section: those that fit it best, without those that an earlier section links to. The
 * earlier one may come from a run to which others were offered.
 */
export function articlesFor(
  outline: Outline,
  { index, finished }: { readonly index: number; readonly finished: readonly WrittenPart[] },
  articles: readonly LinkableArticle[],
): LinkableArticle[] {
  const id = outline.sections[index]?.id;
  const linked = new Set(
    finished
      .flatMap(({ blocks }) => blocks)
      .flatMap((block) => ('links' in block ? (block.links ?? []) : []))
      .map(({ articleId }) => articleId),
  );
  return assignArticles(outline, articles).flatMap(({ section, ...article }) =>
    section === id && !linked.has(article.id) ? [article] : [],
  );
}

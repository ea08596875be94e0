import type { ProposedCategory } from '../db/suggestions.ts';
import { firstCodePoints } from '../document/text/characters.ts';
import { pseudoLocalize } from '../providers/pseudo.ts';
import {
  type ArticleQuestion,
  MAX_SUGGESTIONS,
  type NamesQuestion,
  type ProjectQuestion,
  type Question,
} from './model-questions.ts';
import type { SuggestionProvider } from './provider.ts';
import { MAX_NAME } from './responses.ts';

/** Proposals per article. */
const MAX_PROPOSED = 3;
/** Shorter Latin words are mostly articles, pronouns and prepositions. */
const MIN_LATIN_WORD = 5;
/** `⟦` and `⟧` */
const BRACKETS = 2;

/**
 * The offline default: suggests words of the article or project. Deterministic; every reason says that it is a pseudo
 * suggestion.
 */
export const createPseudoSuggestions = (): SuggestionProvider => ({
  name: 'pseudo',
  async suggest({ question, signal }) {
    signal.throwIfAborted();
    return { object: suggestFor(question), truncated: false };
  },
});

function suggestFor(question: Question) {
  switch (question.kind) {
    case 'article_categories':
      return suggestForArticle(question);
    case 'project_categories':
      return { language: question.language, categories: proposeForProject(question) };
    case 'category_names':
      return { names: localizeName(question) };
  }
}

/** A category fits when words of its name occur in the article; most occurrences first. */
function suggestForArticle(question: ArticleQuestion) {
  const { language, title, keywords, text, candidates, carried, elsewhere } = question;
  const counts = countWords([title, ...keywords, text].join('\n'), language);
  const existing = candidates
    .map(({ name }, index) => {
      const found = [...new Set(wordsOf(name, language))].filter((word) => counts.has(word));
      return { number: index + 1, found, uses: sum(found.map((word) => counts.get(word) ?? 0)) };
    })
    .filter(({ found }) => found.length > 0)
    .sort((a, b) => b.uses - a.uses || a.number - b.number)
    .slice(0, MAX_SUGGESTIONS)
    .map(({ number, found, uses }) => ({
      number,
      reason: `Pseudo suggestion: the article uses “${found.join('”, “')}” ${times(uses)}.`,
    }));
  const proposed =
    existing.length > 0
      ? []
      : propose(
          [...keywords, ...significantWords(title, language)],
          [...carried, ...elsewhere],
          language,
          (name) => {
            const uses = Math.max(1, sum(wordsOf(name, language).map((word) => counts.get(word) ?? 0)));
            return `Pseudo suggestion: “${name}” occurs ${times(uses)} in the article.`;
          },
        ).slice(0, MAX_PROPOSED);
  return { language, existing, proposed };
}

/** Ideas first, then keywords, then words of titles, most frequent first. */
function proposeForProject({
  language,
  titles,
  keywords,
  ideas,
  taken,
}: ProjectQuestion): ProposedCategory[] {
  const titleWords = countWords(titles.join('\n'), language);
  const byUse = [...new Set(titles.flatMap((title) => significantWords(title, language)))].sort(
    (a, b) => (titleWords.get(b) ?? 0) - (titleWords.get(a) ?? 0),
  );
  const sources = [
    ...ideas.map(({ title }) => title),
    ...ideas.flatMap((idea) => idea.keywords),
    ...keywords,
    ...byUse,
  ];
  return propose(
    sources,
    taken,
    language,
    (name) => `Pseudo suggestion: “${name}” appears in the project's ideas, keywords or titles.`,
  ).slice(0, MAX_SUGGESTIONS);
}

function localizeName({ name, targets }: NamesQuestion) {
  const fitting = firstCodePoints(name, MAX_NAME - BRACKETS);
  return targets.map((language) => ({ language, name: pseudoLocalize(fitting) }));
}

/** The texts as names: first letter in upper case; without long, repeated and taken ones. */
function propose(
  texts: readonly string[],
  taken: readonly string[],
  language: string,
  reason: (name: string) => string,
): ProposedCategory[] {
  const seen = new Set(taken.map((name) => name.toLocaleLowerCase(language)));
  const proposals: ProposedCategory[] = [];
  for (const text of texts) {
    const [first = '', ...rest] = [...text.trim()];
    const name = first.toLocaleUpperCase(language) + rest.join('');
    const key = name.toLocaleLowerCase(language);
    if (name === '' || rest.length + 1 > MAX_NAME || seen.has(key)) continue;
    seen.add(key);
    proposals.push({ name, reason: reason(name) });
  }
  return proposals;
}

function wordsOf(text: string, language: string): string[] {
  const words: string[] = [];
  for (const { segment, isWordLike } of new Intl.Segmenter(language, { granularity: 'word' }).segment(text)) {
    if (isWordLike) words.push(segment.toLocaleLowerCase(language));
  }
  return words;
}

function significantWords(text: string, language: string): string[] {
  return wordsOf(text, language).filter(
    (word) => !/\p{Script=Latin}/u.test(word) || [...word].length >= MIN_LATIN_WORD,
  );
}

function countWords(text: string, language: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of wordsOf(text, language)) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

const times = (count: number): string => (count === 1 ? 'once' : `${count} times`);

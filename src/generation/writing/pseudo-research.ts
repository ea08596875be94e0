/** What `pseudo` says of sources and claims, without a model: it copies, and compares numbers. */
import { countTextWords, wordsIn } from '../../document/format/words.ts';
import { plainVerdict } from '../../research/claims/plain-verdict.ts';
import { MAX_CLAIMS, MAX_QUOTE_WORDS } from '../../research/limits.ts';
import { plainQuestions } from '../../research/prompts/questions.ts';
import type { BriefNote } from './brief.ts';
import type { QuestionOf } from './prompts/index.ts';

/** Quotes of each source, and words of the shortest. */
const QUOTES = 3;
const LEAST_WORDS = 5;
/** Searches: the pages that it searches are few. */
const QUERIES = 4;

const SENTENCES = new Intl.Segmenter('en', { granularity: 'sentence' });
const sentencesOf = (text: string): string[] =>
  [...SENTENCES.segment(text)].map(({ segment }) => segment.trim()).filter((each) => each !== '');

export const questionsFor = ({ topic }: QuestionOf<'questions'>) => ({
  queries: plainQuestions(topic, QUERIES),
});

/** The first sentences of each source with a figure, else its first. */
export const notesOf = ({ sources }: QuestionOf<'notes'>) => ({
  notes: sources.flatMap(({ text }, index) => {
    const quotes = text.split('\n\n').flatMap(sentencesOf).filter(isQuotable);
    const figures = quotes.filter((quote) => /\d/.test(quote));
    const chosen = figures.length === 0 ? quotes.slice(0, 1) : figures.slice(0, QUOTES);
    return chosen.map((quote) => ({ source: index + 1, quote }));
  }),
});

function isQuotable(sentence: string): boolean {
  const words = countTextWords(sentence);
  return words >= LEAST_WORDS && words <= MAX_QUOTE_WORDS && /[.!?]$/.test(sentence);
}

/** The sentences with figures, but those of `pseudo` itself. */
export const claimsOf = ({ blocks }: QuestionOf<'claims'>) => ({
  claims: blocks
    .flatMap(({ text }, index) => sentencesOf(text).map((sentence) => ({ block: index + 1, sentence })))
    .filter(({ sentence }) => /\d/.test(sentence) && !/pseudo/i.test(sentence))
    .slice(0, MAX_CLAIMS),
});

export const verdictsOf = ({ brief, claims }: QuestionOf<'verdicts'>) => ({
  verdicts: claims.map(({ sentence, passages }, index) => {
    const { verdict, passage } = plainVerdict(sentence, passages, brief.config.language);
    const at = passage === null ? -1 : passages.indexOf(passage);
    return { claim: index + 1, verdict, passage: at < 0 ? null : at + 1 };
  }),
});

/** It has no opinion on which of the two is right. */
export const correctionsOf = (_question: QuestionOf<'corrections'>) => ({ edits: [] });

/** A note as a sentence of its own, with the reference before its full stop; null for one that is no sentence. */
export function sentenceOf(notes: readonly BriefNote[], number: number): string | null {
  const quote = notes[number - 1]?.quote;
  if (quote === undefined || !/[.!?]$/.test(quote) || wordsIn(quote).length === 0) return null;
  // What a page says may read as Markdown.
  if (/[\\`*_[\]<>#|~]/.test(quote)) return null;
  return `${quote.slice(0, -1)} [${number}]${quote.slice(-1)}`;
}

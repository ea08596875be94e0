/** How many tokens a call may answer with (contract.md G76). */

/** Of a deployment. */
export interface TokenLimits {
  /** Tokens that a model may think before it writes. */
  readonly reasoningTokens: number;
  /** The most of a call, thoughts included. */
  readonly maxOutputTokens: number;
  /** What a model can have before it at once, its response included. */
  readonly contextTokens: number;
}

/** Tokens of responses whose form and bounds are fixed. */
export const STRUCTURED_TOKENS = { outline: 8_000, edits: 8_000, lead: 2_000 } as const;

/** What a text may exceed its length by, and room for its form. */
const RATIO = 1.5;
const FORM_TOKENS = 500;
const TOKENS_PER_WORD = { Latn: 2, other: 4 } as const;
const TOKENS_PER_CHARACTER = 2;
/** Characters of a word, by `Intl.Segmenter`, in languages whose models count characters. */
const CHARACTERS_PER_WORD: Readonly<Record<string, number>> = { ja: 2, ko: 4, th: 4, yue: 2, zh: 2 };

/** Tokens for a text of so many words in this language. */
export function textTokens(words: number, language: string): number {
  const { language: base, script } = new Intl.Locale(language).maximize();
  const characters = CHARACTERS_PER_WORD[base];
  if (characters !== undefined) return written(words * characters * TOKENS_PER_CHARACTER);
  return written(words * (script === 'Latn' ? TOKENS_PER_WORD.Latn : TOKENS_PER_WORD.other));
}

const written = (tokens: number): number => Math.ceil(RATIO * tokens) + FORM_TOKENS;

/** The limit of a call whose response takes `tokens`. */
export const outputLimit = (tokens: number, { reasoningTokens, maxOutputTokens }: TokenLimits): number =>
  Math.min(tokens + reasoningTokens, maxOutputTokens);

/** How many tokens a call may answer with (contract.md G76). */
import { charactersOf } from './lengths.ts';

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
export const STRUCTURED_TOKENS = { outline: 8_000, plan: 8_000, edits: 8_000, lead: 2_000 } as const;

/** What a text may exceed its length by, and room for its form. */
const RATIO = 1.5;
const FORM_TOKENS = 500;
const TOKENS_PER_WORD = { Latn: 2, other: 4 } as const;
const TOKENS_PER_CHARACTER = 2;

/** Prompt, alternative text and caption of an image, in any script. */
const TOKENS_PER_IMAGE = 450;

/** Tokens for what so many images show. */
export const imagePromptTokens = (images: number): number => images * TOKENS_PER_IMAGE + FORM_TOKENS;

/** Tokens for a text of so many words in this language. */
export function textTokens(words: number, language: string): number {
  const { script } = new Intl.Locale(language).maximize();
  const characters = charactersOf(words, language);
  if (characters !== null) return written(characters * TOKENS_PER_CHARACTER);
  return written(words * (script === 'Latn' ? TOKENS_PER_WORD.Latn : TOKENS_PER_WORD.other));
}

const written = (tokens: number): number => Math.ceil(RATIO * tokens) + FORM_TOKENS;

/** The limit of a call whose response takes `tokens`. */
export const outputLimit = (
  tokens: number,
  { reasoningTokens, maxOutputTokens }: Omit<TokenLimits, 'contextTokens'>,
): number => Math.min(tokens + reasoningTokens, maxOutputTokens);

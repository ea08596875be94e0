import type { Checked } from '../../providers/ask.ts';
import type { ChatResponse } from '../../providers/chat-model.ts';
import { deliveredWords } from '../delivered.ts';
import { isShort } from '../target-lengths.ts';
import type { Defect } from './brief.ts';
import { languageDefect } from './language.ts';
import { describeLength } from './lengths.ts';
import { MAX_CHARACTERS } from './markdown/bound.ts';
import { type PartRules, type ReadPart, readPart } from './markdown/read.ts';
import type { ArticleWriter } from './writer.ts';

/** Characters that are read for each word that was requested, code included, and at least. */
const CHARACTERS_PER_WORD = 40;
const MIN_CHARACTERS = 8_000;

export interface TextCheck {
  readonly rules: PartRules;
  readonly writer: ArticleWriter;
  readonly language: string;
  /** Words that were asked for. */
  readonly words: number;
  readonly shape?: NonNullable<Parameters<typeof readPart>[2]>['shape'];
  /** A defect of this part's own form. */
  readonly defect?: (part: ReadPart) => Defect | null;
}

/**
 * Reads a response and says what only another call can correct (contract.md G35 and G38). A text that is too long is cut
 * later; one that is too short is asked for once more.
 */
export function checkText(
  { text = '', truncated }: ChatResponse,
  { rules, writer, language, words, shape, defect }: TextCheck,
): Checked<ReadPart, Defect> {
  if (truncated) {
    const problem = 'The response was cut off at its length limit. Write less.';
    return { value: null, defects: [{ code: 'truncated', problem }] };
  }
  const characters = Math.min(MAX_CHARACTERS, Math.max(MIN_CHARACTERS, words * CHARACTERS_PER_WORD));
  const part = readPart(text, rules, { characters, ...(shape === undefined ? {} : { shape }) });
  const own = part.defects[0] ?? languageDefect(writer, part.blocks, language) ?? defect?.(part) ?? null;
  if (own !== null) return { value: null, defects: [own] };
  const actual = deliveredWords(part.blocks);
  if (actual === 0) return { value: null, defects: [{ code: 'empty', problem: 'The text has no words.' }] };
  if (!isShort(actual, words)) return { value: part, defects: [] };
  const has = describeLength(actual, language);
  const problem = `The text has ${has}. It should have ${describeLength(words, language)}.`;
  return { value: part, defects: [{ code: 'length', problem, soft: true }], off: Math.abs(actual - words) };
}

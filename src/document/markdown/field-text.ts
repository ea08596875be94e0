/** Runs as the text fields of a block. */

import type { Block } from '../format/schema.ts';
import { serializeInline } from '../inline/markdown.ts';
import { inlineProblems } from '../inline/parse.ts';
import { hasFormatting, type InlineRun, runsText } from '../inline/runs.ts';

/** A block without its id. */
export type NewBlock = Block extends infer B ? (B extends Block ? Omit<B, 'id'> : never) : never;

/** The text of a field in the form the format wants: plain unless there is formatting. */
export interface FieldText {
  readonly text: string;
  readonly format?: 'markdown';
}

/** Several texts that share one `format`. */
export function fieldTexts(fields: readonly (readonly InlineRun[])[]): {
  texts: string[];
  format?: 'markdown';
} {
  if (fields.some(hasFormatting)) {
    const texts = fields.map((runs) => serializeInline(runs));
    if (texts.every((text) => inlineProblems(text).length === 0)) return { texts, format: 'markdown' };
  }
  return { texts: fields.map((runs) => runsText(runs)) };
}

/** One text with its `format`. */
export function fieldText(runs: readonly InlineRun[]): FieldText {
  const { texts, ...format } = fieldTexts([runs]);
  return { text: texts[0] ?? '', ...format };
}

/** Finds the parts of a text that a translation must keep byte for byte. */
import { findPlaceholders, type TextRange } from './placeholders.ts';
import { findAddresses } from './urls.ts';

export type { TextRange } from './placeholders.ts';

/** A part of a text to keep: an address, what software replaces or expands, or control characters. */
export interface Literal extends TextRange {
  readonly kind: 'address' | 'placeholder' | 'control';
}

const CONTROL = /[\u0001-\u0008\u000b-\u001f\u007f\ufffe\uffff]+/g;

/** The literals of a plain text, sorted and without overlaps (contract.md V35 and V36). */
export function findLiterals(text: string): Literal[] {
  const found: Literal[] = [
    ...findAddresses(text).map((range) => ({ ...range, kind: 'address' as const })),
    ...findPlaceholders(text).map((range) => ({ ...range, kind: 'placeholder' as const })),
  ];
  for (const { index, 0: match } of text.matchAll(CONTROL)) {
    found.push({ start: index, end: index + match.length, kind: 'control' });
  }
  found.sort((a, b) => a.start - b.start || b.end - a.end);
  const result: Literal[] = [];
  let last = 0;
  for (const literal of found) {
    if (literal.start < last || literal.end <= literal.start) continue;
    result.push(literal);
    last = literal.end;
  }
  return result;
}

/** Keeps a translation within the bounds for clients, so that whoever reads an article can save it. */
import { MAX_TEXT } from '../format/schema.ts';
import type { TextField } from '../format/walk.ts';
import { weighInline } from '../inline/parse.ts';
import { withinBounds } from '../text/characters.ts';
import { MAX_DOCUMENT_MARKS, MAX_MARK_PAIRS } from '../text/marks.ts';

/** A text, and what its translation makes of it. */
export interface ChangedText {
  readonly field: TextField;
  readonly after: string;
}

const isSavable = (text: string, markdown: boolean): boolean =>
  withinBounds(text, 0, MAX_TEXT) &&
  // A mark takes a character, so most texts need no counting.
  (!markdown || text.length ** 2 <= MAX_MARK_PAIRS || weighInline(text).problem === null);

/**
 * The texts, by key, whose translation would take a document beyond its bounds: each that is too long or has
 * too many Markdown marks itself, and of a document with too many marks those that added the most. Bounds that the source exceeds do not count.
 */
export function unsavableTexts(texts: readonly ChangedText[]): Map<string, TextField> {
  const unsavable = new Map<string, TextField>();
  const formatted: ChangedText[] = [];
  for (const text of texts) {
    const { field, after } = text;
    const { markdown } = field;
    if (!isSavable(after, markdown) && isSavable(field.text, markdown)) unsavable.set(field.key, field);
    else if (markdown) formatted.push(text);
  }
  if (sumOf(formatted.map(({ after }) => after.length)) <= MAX_DOCUMENT_MARKS) return unsavable;
  const weighed = formatted.map(({ field, after }) => {
    const marks = { before: weighInline(field.text).marks, after: weighInline(after).marks };
    return { field, ...marks, added: marks.after - marks.before };
  });
  if (sumOf(weighed.map(({ before }) => before)) > MAX_DOCUMENT_MARKS) return unsavable;
  let total = sumOf(weighed.map(({ after }) => after));
  for (const { field, added } of weighed.sort((one, other) => other.added - one.added)) {
    if (total <= MAX_DOCUMENT_MARKS) break;
    unsavable.set(field.key, field);
    total -= added;
  }
  return unsavable;
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0);

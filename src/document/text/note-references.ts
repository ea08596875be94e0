/** References to notes, as models write them and articles show them: `[3]`, `[2, 5]`. */

/** A reference with the space before it. Linear. */
const REFERENCE = /([ \u00a0]{0,2})\[(\d{1,3}(?:[,;] ?\d{1,3}){0,9})\]/gu;

/** The text without references. */
export const withoutReferences = (text: string): string =>
  text.includes('[') ? text.replace(REFERENCE, '') : text;

/** A piece of a text: characters, or the numbers of a reference with the space before it. */
export type Piece =
  | { readonly text: string }
  | { readonly space: string; readonly numbers: readonly number[] };

/** The text divided at its references. */
export function atReferences(text: string): Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  for (const match of text.matchAll(REFERENCE)) {
    if (match.index > from) pieces.push({ text: text.slice(from, match.index) });
    const [whole, space = '', numbers = ''] = match;
    pieces.push({ space, numbers: numbers.split(/[,;] ?/).map(Number) });
    from = match.index + whole.length;
  }
  if (from < text.length) pieces.push({ text: text.slice(from) });
  return pieces;
}

/** True for a text with a reference. */
export const hasReference = (text: string): boolean => withoutReferences(text) !== text;

/** Figures of a text found in nothing it was written from. */
import type { Block } from '../../../document/format/schema.ts';
import { toAsciiDigits } from '../../../document/translation/figures.ts';
import { visibleTexts } from './words.ts';

/** Figures that are reported. */
const MAX_FIGURES = 40;
/** Digits that are compared. */
const MAX_DIGITS = 40;

/** Digits with signs between them; not those of a name, such as B2B. */
const FIGURE =
  /(?<![\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\d])(?:\d{1,3}(?: \d{3})+(?!\d)|\d+)(?:[.,٫٬'’\u00a0\u202f\u2009]\d+)*/gu;
const SIGN = /[^\d]/;

/** A figure of the text, as it is written there. */
export interface Figure {
  readonly blockId: string;
  readonly figure: string;
}

/** The figures of texts, in every way that they can be read: 1,200 as a thousand and as a decimal number. */
export function figuresIn(texts: readonly string[]): Set<string> {
  return new Set(texts.flatMap((text) => writtenFigures(text).flatMap(readings)));
}

/** The figures of the blocks that no source has, each once, at most 40 (contract.md G72). */
export function unsupportedFigures(blocks: readonly Block[], sources: ReadonlySet<string>): Figure[] {
  const seen = new Set<string>();
  const found: Figure[] = [];
  for (const block of blocks) {
    for (const figure of visibleTexts([block]).flatMap(writtenFigures)) {
      if (seen.has(figure) || readings(figure).some((reading) => sources.has(reading))) continue;
      seen.add(figure);
      if (found.length < MAX_FIGURES) found.push({ blockId: block.id, figure });
    }
  }
  return found;
}

const writtenFigures = (text: string): string[] =>
  (toAsciiDigits(text).match(FIGURE) ?? []).map((figure) => figure.slice(0, MAX_DIGITS));

/** A figure with its last sign as a decimal sign, and, where its groups allow it, with all signs between thousands. */
function readings(figure: string): string[] {
  const groups = figure.split(SIGN);
  const last = groups.at(-1) ?? '';
  const areThousands = groups.slice(1).every(({ length }) => length === 3);
  const whole = withoutZeros(groups.join(''));
  if (groups.length === 1) return [whole];
  const fraction = last.replace(/0+$/, '');
  const before = withoutZeros(groups.slice(0, -1).join(''));
  const decimal = fraction === '' ? before : `${before}.${fraction}`;
  return areThousands ? [whole, decimal] : [decimal];
}

const withoutZeros = (digits: string): string => digits.replace(/^0+(?=\d)/, '');

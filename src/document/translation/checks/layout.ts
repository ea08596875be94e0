/** Line breaks, paragraphs, no-break spaces and character references that a translation lost or added. */

import { toAsciiDigits } from '../figures.ts';
import type { SegmentKind } from '../segments.ts';
import { type Defect, soft } from './defects.ts';
import { baseLanguage, isSameLanguage } from './text.ts';

/** Kinds that are written as a single line whatever comes. */
const SINGLE_LINES: ReadonlySet<SegmentKind> = new Set([
  'title',
  'metaTitle',
  'metaDescription',
  'keyword',
  'altText',
  'linkTitle',
]);
/** Languages that write an ideographic space. */
const IDEOGRAPHIC: ReadonlySet<string> = new Set(['ja', 'zh', 'yue']);
const NO_BREAK = '\\u00a0\\u202f';
/** A reference that is left when the markup has been read: one too many. The source's own are placeholders. */
const REFERENCE = /&(?:amp|lt|gt|quot|apos|nbsp|#\d{1,7}|#x[\da-f]{1,6});/iu;

interface Facts {
  readonly kind: SegmentKind;
  readonly sourceLanguage: string;
  readonly targetLanguage: string;
}

/** Compares two texts without markup (contract.md V38). */
export function checkLayout(source: string, translated: string, facts: Facts): Defect[] {
  return [
    ...(SINGLE_LINES.has(facts.kind) ? [] : checkBreaks(source, translated)),
    ...checkSpaces(source, translated, facts),
    ...(REFERENCE.test(translated) && !REFERENCE.test(source)
      ? [soft('references', 'the translation has a character reference as text: write the character')]
      : []),
  ];
}

/** The number of lines of each paragraph. */
const linesOf = (text: string): number[] =>
  text
    .replace(/\r\n?/g, '\n')
    .split(/\n[^\S\n]*\n\s*/)
    .map((paragraph) => paragraph.split('\n').length);

function checkBreaks(source: string, translated: string): Defect[] {
  const [wanted, given] = [linesOf(source), linesOf(translated)];
  if (wanted.length !== given.length) {
    const message = `the text has ${wanted.length} paragraphs, the translation ${given.length}: keep the empty lines between them`;
    return [soft('breaks', message)];
  }
  return wanted.every((lines, place) => lines === given[place])
    ? []
    : [soft('breaks', 'line breaks of the text were lost or added: keep them where they are')];
}

const countOf = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;

function checkSpaces(source: string, translated: string, facts: Facts): Defect[] {
  const { sourceLanguage, targetLanguage } = facts;
  const fewer = (pattern: RegExp): boolean => countOf(translated, pattern) < countOf(source, pattern);
  if (IDEOGRAPHIC.has(baseLanguage(targetLanguage)) && fewer(/\u3000/g)) {
    return [soft('spaces', 'ideographic spaces (U+3000) of the text are missing: keep them')];
  }
  // Punctuation has its no-break spaces by language, numbers have theirs in each.
  const isLost = isSameLanguage(sourceLanguage, targetLanguage)
    ? fewer(new RegExp(`[${NO_BREAK}]`, 'g'))
    : losesBound(toAsciiDigits(source), toAsciiDigits(translated));
  return isLost
    ? [soft('spaces', 'a no-break space (U+00A0) of the text has become a plain one: keep it')]
    : [];
}

/** Whether a number that a no-break space binds to a word stands apart from it now. */
function losesBound(source: string, translated: string): boolean {
  const bound = new Set(source.match(new RegExp(`\\d+(?=[${NO_BREAK}]\\S)`, 'g')));
  return [...bound].some((number) => {
    const before = (space: string) => new RegExp(`(?<!\\d)${number}${space}(?=\\S)`, 'g');
    const [plain, kept] = [before(' '), before(`[${NO_BREAK}]`)];
    return (
      countOf(translated, plain) > countOf(source, plain) && countOf(translated, kept) < countOf(source, kept)
    );
  });
}

/** Context of a part: the rest of the article in at most 2,000 words. */
import type { Block } from '../../document/format/schema.ts';
import { collectTexts } from '../../document/format/walk.ts';
import { wordRanges } from '../../document/format/words.ts';
import { ParsedTexts } from '../../document/inline/texts.ts';
import type { Outline } from '../outline.ts';
import type { SectionContext, WrittenPart } from './writer.ts';

/** Words of each heading, of each finished section's line, and of the preceding text: below 2,000 with 40 sections. */
const HEADING_WORDS = 18;
const LINE_WORDS = 22;
const BEFORE_WORDS = 300;

/** The first words of a text. */
export function firstWords(text: string, count: number): string {
  const ranges = wordRanges(text);
  return ranges.length <= count ? text : `${text.slice(0, ranges[count - 1]?.end)}…`;
}

/** The last words of a text. */
function lastWords(text: string, count: number): string {
  const ranges = wordRanges(text);
  return ranges.length <= count ? text : `…${text.slice(ranges.at(-count)?.start)}`;
}

/** The blocks' visible texts, one per line. */
function shownText(blocks: readonly Block[]): string {
  const texts = new ParsedTexts();
  return collectTexts({ version: 1, blocks: [...blocks] })
    .map(({ text, markdown }) => (markdown ? texts.plain(text) : text))
    .join('\n');
}

/** The context of the part after the finished ones. */
export function contextOf(outline: Outline, finished: readonly WrittenPart[]): SectionContext {
  const headings = outline.sections.map(({ heading }) => firstWords(heading, HEADING_WORDS));
  const texts = finished.map(({ blocks }) => shownText(blocks));
  const lines = texts.map((text) => firstWords(text.replaceAll('\n', ' '), LINE_WORDS));
  let before = '';
  for (const text of texts.toReversed()) {
    before = before === '' ? text : `${text}\n${before}`;
    if (wordRanges(before).length >= BEFORE_WORDS) break;
  }
  return { headings, finished: lines, before: lastWords(before, BEFORE_WORDS) };
}

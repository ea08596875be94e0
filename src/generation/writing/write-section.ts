import type { Block } from '../../document/format/schema.ts';
import { countWords } from '../../document/format/words.ts';
import { type Checked, parseResponse } from '../../providers/ask.ts';
import { isNear, sectionLength } from '../target-lengths.ts';
import { hostNames } from './addresses.ts';
import type { Defect, WritingBrief, WrittenPart } from './brief.ts';
import { firstWords } from './excerpt.ts';
import { languageDefect } from './language.ts';
import { sectionOutput } from './model-output.ts';
import { PartBuilder, type PartRules, repetitionKeys } from './part-builder.ts';
import { requestPart } from './request-part.ts';
import type { TextRules } from './text.ts';
import type { ArticleWriter, SectionRequest } from './writer.ts';

/** A part longer than this multiple of its target loses its last blocks. */
const MAX_RATIO = 2;
const QUOTED_WORDS = 12;

/** Rules from the customer's own words: topic, keywords and these headings. */
export function allowedBy({ config }: WritingBrief, headings: readonly string[] = []): TextRules {
  const own = [config.topic, config.primaryKeyword ?? '', ...config.secondaryKeywords, ...headings];
  return { hosts: hostNames(own), said: own.join('\n') };
}

/** Words of the blocks, as the article counts them. */
export const partWords = (blocks: readonly Block[]): number =>
  countWords({ version: 1, blocks: [...blocks] });

/**
 * Writes one section (contract.md G35 to G40): requests it, checks it, and sends exact defects back, in at most three calls.
 * @throws {ProviderError} of the writer, or `unusable` with a message for customers when no output was usable; the signal's
 *   reason when aborted
 */
export async function writeSection(writer: ArticleWriter, request: SectionRequest): Promise<WrittenPart> {
  const { brief, outline, index, finished, articles, answered, signal } = request;
  const section = outline.sections[index];
  if (section === undefined) throw new RangeError(`an outline without a section ${index}`);
  const { words, spare } = sectionLength(brief.config, outline, finished);
  const rules: PartRules = {
    ...allowedBy(brief, [section.heading]),
    section,
    articles,
    earlier: new Set(finished.flatMap(({ blocks }) => repetitionKeys(blocks))),
  };
  const { value, calls } = await requestPart<readonly Block[]>({
    ask: (rejected) =>
      writer.ask({
        kind: 'section',
        brief,
        article: { outline, finished, faq: null },
        section,
        number: index + 1,
        words,
        articles: articles.map(({ title }) => title),
        signal,
        rejected,
      }),
    check: (response) => {
      const parsed = parseResponse(sectionOutput, response);
      if (!parsed.ok) return { value: null, defects: parsed.defects };
      const builder = new PartBuilder(rules);
      for (const block of parsed.value.blocks) builder.append(block);
      return checkPart(builder, writer, brief, words);
    },
    calls: 1 + Math.floor(spare / words),
    answered,
    what: `the section “${firstWords(section.heading, QUOTED_WORDS)}”`,
    signal,
  });
  const blocks = cutToLength(value, words);
  return { blocks, words: partWords(blocks), asked: words * calls };
}

/** Checks the part as a whole: its language, and its length, which alone never fails a run. */
export function checkPart(
  builder: PartBuilder,
  writer: ArticleWriter,
  { config }: WritingBrief,
  words: number,
): Checked<readonly Block[], Defect> {
  const blocks = builder.finish();
  const foreign = builder.defects.length > 0 ? null : languageDefect(writer, blocks, config.language);
  const defects = foreign === null ? builder.defects : [foreign];
  if (defects.length > 0) return { value: null, defects };
  const actual = partWords(blocks);
  if (actual === 0) return { value: null, defects: [{ code: 'empty', problem: 'The text has no words.' }] };
  if (isNear(actual, words)) return { value: blocks, defects: [] };
  const problem = `The text has ${actual} words. It should have ${words}.`;
  return { value: blocks, defects: [{ code: 'length', problem, soft: true }], off: Math.abs(actual - words) };
}

/** Drops the last blocks of a text that is far too long, unless the rest would be too short. */
function cutToLength(blocks: readonly Block[], words: number): readonly Block[] {
  let kept = blocks;
  while (kept.length > 1 && partWords(kept) > words * MAX_RATIO) {
    const shorter = kept.slice(0, kept.at(-2)?.type === 'heading' ? -2 : -1);
    if (shorter.length === 0 || partWords(shorter) < words) return kept;
    kept = shorter;
  }
  return kept;
}

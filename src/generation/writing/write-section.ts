import { countTextWords } from '../../document/format/words.ts';
import { deliveredWords } from '../delivered.ts';
import { roomFor, sectionTarget } from '../target-lengths.ts';
import type { WrittenPart } from './brief.ts';
import { checkText } from './check-text.ts';
import { firstWords } from './excerpt.ts';
import { repetitionKeys } from './markdown/blocks.ts';
import { cutBlocks } from './markdown/cut.ts';
import type { ReadPart } from './markdown/read.ts';
import { requestPart } from './request-part.ts';
import { customersWords } from './said.ts';
import type { ArticleWriter, SectionRequest } from './writer.ts';

const QUOTED_WORDS = 12;

/**
 * Writes one section (contract.md G34 to G40): requests it as Markdown, mends it, and sends exact defects back, in at most
 * three calls. It is cut to its room.
 * @throws {ProviderError} of the writer, or `unusable` with a message for customers when no response was usable; the signal's
 *   reason when aborted
 */
export async function writeSection(writer: ArticleWriter, request: SectionRequest): Promise<WrittenPart> {
  const { brief, outline, plan, lead, index, finished, articles, answered, signal } = request;
  const section = outline.sections[index];
  if (section === undefined) throw new RangeError(`an outline without a section ${index}`);
  const words = sectionTarget({ ...brief.config, lead }, outline, finished);
  const rules = {
    ...customersWords(brief, outline, articles),
    section,
    articles,
    notes: brief.notes.length,
    earlier: new Set(finished.flatMap(({ blocks }) => repetitionKeys(blocks))),
  };
  const { value } = await requestPart<ReadPart>({
    ask: (rejected) =>
      writer.ask({
        kind: 'section',
        brief,
        article: { outline, plan, finished, faq: null },
        section,
        number: index + 1,
        words,
        articles: articles.map(({ title }) => title),
        signal,
        rejected,
      }),
    check: (response) => checkText(response, { rules, writer, language: brief.config.language, words }),
    answered,
    what: `the section “${firstWords(section.heading, QUOTED_WORDS)}”`,
    signal,
  });
  const room = roomFor({ ...brief.config, lead }, outline, finished, countTextWords(section.heading));
  return partOf(value, cutBlocks, room);
}

/** The part as it is stored, in its room. */
export function partOf(
  { blocks, mended }: ReadPart,
  cut: (blocks: ReadPart['blocks'], words: number) => ReadPart['blocks'],
  room: number,
): WrittenPart {
  const words = deliveredWords(blocks);
  if (words <= room) return { blocks, words, mended };
  const shown = cut(blocks, room);
  return { blocks: shown, words: deliveredWords(shown), mended: { ...mended, cut: 1 } };
}

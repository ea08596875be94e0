import { countTextWords } from '../../document/format/words.ts';
import { faqTarget, roomFor } from '../target-lengths.ts';
import type { Defect, WrittenPart } from './brief.ts';
import { checkText } from './check-text.ts';
import { faqHeading } from './faq-headings.ts';
import { repetitionKeys } from './markdown/blocks.ts';
import { cutQuestions } from './markdown/cut.ts';
import { MAX_QUESTIONS, MIN_QUESTIONS, questionsIn, shapeQuestions } from './markdown/faq.ts';
import type { ReadPart } from './markdown/read.ts';
import { requestPart } from './request-part.ts';
import { customersWords } from './said.ts';
import { partOf } from './write-section.ts';
import type { ArticleWriter, FaqRequest } from './writer.ts';

/** Never a section's id: those are trimmed. */
export const FAQ_ID = ' faq';

/**
 * Writes the FAQ that ends an article: 3 to 5 questions, each a heading of level 3 with its answer (contract.md G41).
 * @throws {ProviderError} as `writeSection`
 */
export async function writeFaq(writer: ArticleWriter, request: FaqRequest): Promise<WrittenPart> {
  const { brief, outline, plan, lead, finished, answered, signal } = request;
  const heading = faqHeading(brief.config.language);
  const words = faqTarget(brief.config, countTextWords(heading));
  const rules = {
    ...customersWords(brief, outline),
    section: { id: FAQ_ID, heading, level: 2 },
    articles: [],
    notes: brief.notes.length,
    earlier: new Set(finished.flatMap(({ blocks }) => repetitionKeys(blocks))),
  };
  const { language } = brief.config;
  const { value } = await requestPart<ReadPart>({
    ask: (rejected) =>
      writer.ask({
        kind: 'faq',
        brief,
        article: { outline, plan, finished, faq: null },
        words,
        signal,
        rejected,
      }),
    check: (response) =>
      checkText(response, { rules, writer, language, words, shape: shapeQuestions, defect: questionsDefect }),
    answered,
    what: 'the frequently asked questions',
    signal,
  });
  const room = roomFor({ ...brief.config, lead }, outline, finished, countTextWords(heading));
  return partOf(withinBounds(value), cutQuestions, room);
}

function questionsDefect({ blocks }: ReadPart): Defect | null {
  const { length } = questionsIn(blocks);
  if (length >= MIN_QUESTIONS) return null;
  const problem = `There are ${length} questions. There should be ${MIN_QUESTIONS} to ${MAX_QUESTIONS}, each a heading of level 3 with its answer below.`;
  return { code: 'shape', problem };
}

/** Without what stands before the first question, and without a sixth. */
function withinBounds(part: ReadPart): ReadPart {
  const questions = questionsIn(part.blocks);
  const blocks = questions.slice(0, MAX_QUESTIONS).flat();
  if (blocks.length === part.blocks.length) return part;
  return { ...part, blocks, mended: { ...part.mended, shape: (part.mended.shape ?? 0) + 1 } };
}

import type { Block } from '../../document/format/schema.ts';
import { parseResponse } from '../../providers/ask.ts';
import { faqLength } from '../target-lengths.ts';
import type { WrittenPart } from './brief.ts';
import { faqHeading } from './faq-headings.ts';
import { faqOutput } from './model-output.ts';
import { PartBuilder, type PartRules, repetitionKeys } from './part-builder.ts';
import { requestPart } from './request-part.ts';
import { allowedBy, checkPart, partWords } from './write-section.ts';
import type { ArticleWriter, FaqRequest } from './writer.ts';

const MIN_QUESTIONS = 3;
const MAX_QUESTIONS = 5;
/** Never a section's id: those are trimmed. */
export const FAQ_ID = ' faq';

/**
 * Writes the FAQ that ends an article: 3 to 5 questions, each a heading of level 3 with its answer (contract.md G41).
 * @throws {ProviderError} as `writeSection`
 */
export async function writeFaq(writer: ArticleWriter, request: FaqRequest): Promise<WrittenPart> {
  const { brief, outline, finished, answered, signal } = request;
  const { words, spare } = faqLength(brief.config, outline, finished);
  const rules: PartRules = {
    ...allowedBy(
      brief,
      outline.sections.map(({ heading }) => heading),
    ),
    section: { id: FAQ_ID, heading: faqHeading(brief.config.language), level: 2 },
    articles: [],
    earlier: new Set(finished.flatMap(({ blocks }) => repetitionKeys(blocks))),
  };
  const { value, calls } = await requestPart<readonly Block[]>({
    ask: (rejected) =>
      writer.ask({
        kind: 'faq',
        brief,
        article: { outline, finished, faq: null },
        words,
        signal,
        rejected,
      }),
    check: (response) => {
      const parsed = parseResponse(faqOutput, response);
      if (!parsed.ok) return { value: null, defects: parsed.defects };
      const { questions } = parsed.value;
      if (questions.length < MIN_QUESTIONS || questions.length > MAX_QUESTIONS) {
        const problem = `There are ${questions.length} questions. There should be ${MIN_QUESTIONS} to ${MAX_QUESTIONS}.`;
        return { value: null, defects: [{ code: 'shape', problem }] };
      }
      const builder = new PartBuilder(rules);
      for (const { question, answer: text } of questions) {
        builder.heading(question, 3);
        builder.paragraph(text);
      }
      return checkPart(builder, writer, brief, words);
    },
    calls: 1 + Math.floor(spare / words),
    answered,
    what: 'the frequently asked questions',
    signal,
  });
  return { blocks: value, words: partWords(value), asked: words * calls };
}

/** Writers behind a real server on loopback, and whole articles written by them. */
import { countTextWords } from '../../src/document/format/words.ts';
import { type GenerationConfig, generationConfigSchema } from '../../src/generation/config.ts';
import { deliveredWords } from '../../src/generation/delivered.ts';
import type { Outline } from '../../src/generation/outline.ts';
import { bodyRoom, leadRoom } from '../../src/generation/target-lengths.ts';
import { lengthsOf } from '../../src/generation/text-parts.ts';
import { assembleBody } from '../../src/generation/writing/assemble.ts';
import type { LinkableArticle, WritingBrief, WrittenPart } from '../../src/generation/writing/brief.ts';
import { applyEdits } from '../../src/generation/writing/editing/apply-edits.ts';
import { requestEdits } from '../../src/generation/writing/editing/request-edits.ts';
import { faqHeading } from '../../src/generation/writing/faq-headings.ts';
import { createArticleWriters } from '../../src/generation/writing/index.ts';
import { makePlan } from '../../src/generation/writing/make-plan.ts';
import { planOutline } from '../../src/generation/writing/plan-outline.ts';
import { FAQ_ID, writeFaq } from '../../src/generation/writing/write-faq.ts';
import { writeLead } from '../../src/generation/writing/write-lead.ts';
import { writeSection } from '../../src/generation/writing/write-section.ts';
import type { ArticleWriter } from '../../src/generation/writing/writer.ts';
import { ProviderError } from '../../src/providers/types.ts';
import { type ChatRequest, chatRequest, completion } from '../support/chat-completions.ts';
import { type EngineResponse, startEngineServer } from '../support/engine-server.ts';

export const never = new AbortController().signal;

export const briefOf = (config: Partial<GenerationConfig> = {}): WritingBrief => ({
  config: generationConfigSchema.parse({ topic: 'Roses', ...config }),
  title: null,
  keywords: [],
  date: '2026-03-02',
  voice: null,
  template: null,
});

export const writerAt = (url: string): ArticleWriter =>
  createArticleWriters(
    { GENERATION_PROVIDER: 'openai-compatible', AI_BASE_URL: `${url}/v1`, AI_MODEL: 'stand-in' },
    { info: () => undefined, warn: () => undefined },
  ).premium;

const isResponse = (answer: object): answer is Exclude<EngineResponse, () => void> => 'body' in answer;

/** A model that gives the answers one after the other, the last one for ever: texts, objects as JSON, or whole responses. */
export async function startScripted(...answers: readonly (string | object)[]) {
  let given = 0;
  const server = await startEngineServer(() => {
    const next = answers[Math.min(given, answers.length - 1)] ?? {};
    given += 1;
    if (typeof next === 'string') return completion(next);
    return isResponse(next) ? next : completion(JSON.stringify(next));
  });
  return {
    writer: writerAt(server.url),
    requests: (): ChatRequest[] => server.requests.map(chatRequest),
    close: server.close,
  };
}

/** An outline whose sections have these headings, all of level 2. */
export const outlineOf = (...headings: readonly string[]): Outline => ({
  title: 'Roses in a small garden',
  slug: 'roses',
  metaTitle: 'Roses',
  metaDescription: 'About roses.',
  sections: headings.map((heading, index) => ({
    id: `section-${index + 1}`,
    heading,
    level: 2,
    purpose: `Tells of ${heading}.`,
    keywords: [],
    estimatedWords: 100,
  })),
});

/** Prose of so many words, another one for each seed. */
export const prose = (words: number, seed = 'rose'): string =>
  `${Array.from({ length: words }, (_, index) => (index === 0 ? `The ${seed}` : `${seed}s grow`)).join(' ')}`
    .split(' ')
    .slice(0, words)
    .join(' ')
    .concat('.');

/** What may fail without failing a run. */
const orNull = <Value>(made: Promise<Value>): Promise<Value | null> =>
  made.catch((error: unknown) => {
    if (error instanceof ProviderError && ['unusable', 'refused'].includes(error.kind)) return null;
    throw error;
  });

/** An article as a run writes it, step by step. */
export async function writeArticle(
  writer: ArticleWriter,
  brief: WritingBrief,
  articles: readonly LinkableArticle[] = [],
  given?: Outline,
) {
  const outline = given ?? (await planOutline(writer, { brief, signal: never }));
  const plan = await orNull(makePlan(writer, { brief, outline, signal: never }));
  const lengths = lengthsOf(brief.config, plan);
  const { lead: words } = lengths;
  const written: WrittenPart[] = [];
  for (const index of outline.sections.keys()) {
    const request = { brief, outline, plan, lead: words, index, finished: [...written], articles };
    written.push(await writeSection(writer, { ...request, signal: never }));
  }
  const { language } = brief.config;
  const asked = brief.config.faq
    ? await writeFaq(writer, { brief, outline, plan, lead: words, finished: written, signal: never })
    : null;
  const draft = [...written, ...(asked === null ? [] : [asked])].map(({ blocks }, index) => {
    const { id, heading } = outline.sections[index] ?? { id: FAQ_ID, heading: faqHeading(language) };
    return { id, heading, planned: 0, blocks };
  });
  const requested = await orNull(requestEdits(writer, { brief, outline, plan, parts: draft, signal: never }));
  const headings = countTextWords(draft.map(({ heading }) => heading).join('\n'));
  const bounds = { least: 0, most: bodyRoom(lengths) - headings };
  const edited = applyEdits(
    draft.map(({ blocks }) => blocks),
    requested?.edits ?? [],
    bounds,
  );
  const parts = written.map((part, index) => ({ ...part, blocks: edited.parts[index] ?? part.blocks }));
  const faq = asked === null ? null : { ...asked, blocks: edited.parts.at(-1) ?? asked.blocks };
  const room = leadRoom(lengths, headings + deliveredWords(edited.parts.flat()));
  const article = { outline, plan, finished: parts, faq };
  const lead = await orNull(writeLead(writer, { brief, article, words, room, names: true, signal: never }));
  const questions = faq === null ? null : { language, part: faq };
  const document = assembleBody(outline, parts, questions, lead?.lead?.blocks);
  return { outline, plan, parts, faq, edited, lead, document };
}

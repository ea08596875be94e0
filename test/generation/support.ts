/** Writers behind a real server on loopback, and whole articles written by them. */
import type { DocumentJson } from '../../src/document/format/schema.ts';
import { type GenerationConfig, generationConfigSchema } from '../../src/generation/config.ts';
import type { Outline } from '../../src/generation/outline.ts';
import { assembleBody } from '../../src/generation/writing/assemble.ts';
import type { LinkableArticle, WritingBrief, WrittenPart } from '../../src/generation/writing/brief.ts';
import { createArticleWriters } from '../../src/generation/writing/index.ts';
import { planOutline } from '../../src/generation/writing/plan-outline.ts';
import { writeFaq } from '../../src/generation/writing/write-faq.ts';
import { writeSection } from '../../src/generation/writing/write-section.ts';
import type { ArticleWriter } from '../../src/generation/writing/writer.ts';
import { type ChatRequest, chatRequest, completion } from '../support/chat-completions.ts';
import { type EngineResponse, startEngineServer } from '../support/engine-server.ts';

export const never = new AbortController().signal;

export const briefOf = (config: Partial<GenerationConfig> = {}): WritingBrief => ({
  config: generationConfigSchema.parse({ topic: 'Roses', ...config }),
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

/** An article as a run writes it, step by step. */
export async function writeArticle(
  writer: ArticleWriter,
  brief: WritingBrief,
  articles: readonly LinkableArticle[] = [],
  given?: Outline,
): Promise<{ outline: Outline; parts: WrittenPart[]; faq: WrittenPart | null; document: DocumentJson }> {
  const outline = given ?? (await planOutline(writer, { brief, signal: never }));
  const parts: WrittenPart[] = [];
  for (const index of outline.sections.keys()) {
    const request = { brief, outline, index, finished: [...parts], articles, signal: never };
    parts.push(await writeSection(writer, request));
  }
  const { language } = brief.config;
  const faq = brief.config.faq
    ? await writeFaq(writer, { brief, outline, finished: parts, signal: never })
    : null;
  const document = assembleBody(outline, parts, faq === null ? null : { language, part: faq });
  return { outline, parts, faq, document };
}

/** Writers behind a real server on loopback, and whole articles written by them. */
import { loadConfig } from '../../src/config.ts';
import { type GenerationConfig, generationConfigSchema } from '../../src/generation/config.ts';
import type { Outline } from '../../src/generation/outline.ts';
import type { WritingBrief } from '../../src/generation/writing/brief.ts';
import { createArticleWriters } from '../../src/generation/writing/index.ts';
import type { ArticleWriter } from '../../src/generation/writing/writer.ts';
import { type ChatRequest, chatRequest, completion } from '../support/chat-completions.ts';
import { type EngineResponse, startEngineServer } from '../support/engine-server.ts';

export { writeArticle } from '../../eval/write-article.ts';

export const never = new AbortController().signal;

export const briefOf = (config: Partial<GenerationConfig> = {}): WritingBrief => ({
  config: generationConfigSchema.parse({ topic: 'Roses', ...config }),
  title: null,
  keywords: [],
  date: '2026-03-02',
  voice: null,
  template: null,
  notes: [],
});

export async function writerAt(url: string): Promise<ArticleWriter> {
  const writers = await createArticleWriters(
    loadConfig({ GENERATION_PROVIDER: 'openai-compatible', AI_BASE_URL: `${url}/v1`, AI_MODEL: 'stand-in' }),
    { info: () => undefined, warn: () => undefined },
  );
  return writers.premium;
}

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
    writer: await writerAt(server.url),
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

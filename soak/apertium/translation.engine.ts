import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { importArticle } from '../../src/articles/import.ts';
import { createLocalBlobStore } from '../../src/blobs/blob-store.ts';
import { parseDocument } from '../../src/document/format/parse.ts';
import type { DocumentJson } from '../../src/document/format/schema.ts';
import { collectTexts, mapTexts } from '../../src/document/format/walk.ts';
import { parseInline } from '../../src/document/inline/parse.ts';
import { createApertiumProvider } from '../../src/providers/apertium.ts';
import { translateSegments } from '../../src/providers/translate.ts';
import { ProviderError, type TranslationProvider } from '../../src/providers/types.ts';
import { useTestMedia } from '../../test/support/images.ts';
import { startTestService, type TestService } from '../../test/support/service.ts';
import { translating } from '../../test/support/translating.ts';
import { type Apy, startApy } from './apy.ts';
import { chrF, parallelTexts } from './material.ts';

/** Well below what eng-spa reaches on this text (52.8), well above copying the source (25.5). */
const LEAST_CHRF = 45;

let apy: Apy;
let service: TestService;
const blobs = mkdtempSync(path.join(tmpdir(), 'wcs-apertium-'));

beforeAll(async () => {
  apy = await startApy();
  service = await startTestService({ TRANSLATION_PROVIDER: 'apertium', APERTIUM_URL: apy.url });
  await service.startWorker();
});
afterAll(async () => {
  await service?.stop();
  await apy?.stop();
  rmSync(blobs, { recursive: true, force: true });
});

/** Counts texts that the engine was sent, and those sent again. */
function counting(provider: TranslationProvider): TranslationProvider & { sent: number; repaired: number } {
  const counter = {
    name: provider.name,
    sent: 0,
    repaired: 0,
    translate(request: Parameters<TranslationProvider['translate']>[0]) {
      if (request.repair === undefined) counter.sent += request.segments.length;
      else counter.repaired += request.segments.length;
      return provider.translate(request);
    },
  };
  return counter;
}

/** A document without its words, and without the ids that differ in a copy. */
function frame(document: DocumentJson) {
  const blank = mapTexts(document, ({ links }) => ({
    text: '',
    links: links.map((link) => ({ ...link, text: '' })),
  }));
  const inline = collectTexts(document).map(({ key, markdown, text }) => {
    const runs = markdown ? parseInline(text) : [];
    return [
      key,
      [...new Set(runs.flatMap(({ link }) => (link === null ? [] : [link.url])))].sort(),
      runs.flatMap((run) => (run.kind === 'code' ? [run.text] : [])).sort(),
    ];
  });
  const blocks = JSON.parse(JSON.stringify(blank.blocks, (key, value) => (key === 'assetId' ? '' : value)));
  return { blocks, inline };
}

const media = useTestMedia();

describe('the real engine', () => {
  it('translates the demo article from English to Spanish over the whole path, its structure intact', async () => {
    const workspace = await service.workspace(10);
    const projectId = await service.project(workspace, ['en', 'es']);
    const { articleId } = await importArticle(
      { ...workspace.context, blobs: createLocalBlobStore(blobs), media },
      { projectId, language: 'en', file: 'examples/demo/article.md', status: 'DRAFT', keywords: ['garden'] },
    );
    const calls = translating(service);
    const source = await calls.readArticle(workspace, articleId);
    const started = performance.now();
    const created = await service.call(workspace.key, 'POST', `/api/articles/${articleId}/translations`, {
      language: 'es',
    });
    expect(created.status).toBe(202);
    expect(await calls.untilFinal(workspace, created.body.job.id)).toMatchObject({
      status: 'COMPLETED',
      consumedCredits: created.body.estimate.total,
    });
    const seconds = (performance.now() - started) / 1_000;
    const target = await calls.readArticle(workspace, created.body.article.id);
    const document = target.documentJson as DocumentJson;
    expect(parseDocument(document)).toMatchObject({ ok: true });
    expect(frame(document)).toEqual(frame(source.documentJson as DocumentJson));
    expect(target.title).not.toBe(source.title);
    const before = collectTexts(source.documentJson as DocumentJson);
    const changed = collectTexts(document).filter(({ text }, index) => text !== before[index]?.text).length;
    expect(changed).toBeGreaterThan(before.length * 0.7);
    process.stdout.write(
      `demo article: ${created.body.estimate.words} words in ${seconds.toFixed(1)} s, ${changed} of ${before.length} texts changed; title: ${target.title}\n`,
    );
  });

  it('reaches its known quality on a reference text', async () => {
    const pairs = await parallelTexts('eng', 'spa');
    const provider = counting(createApertiumProvider({ url: apy.url, timeoutMs: 30_000 }));
    const translations = await translateSegments(provider, {
      sourceLanguage: 'en',
      targetLanguage: 'es',
      segments: pairs.map(({ source }, index) => ({ id: `s${index}`, kind: 'paragraph', text: source })),
      signal: new AbortController().signal,
    });
    const references = pairs.map(({ reference }) => reference);
    const { score, signature } = await chrF(
      pairs.map((_, index) => translations.get(`s${index}`) ?? ''),
      references,
    );
    const copied = await chrF(
      pairs.map(({ source }) => source),
      references,
    );
    process.stdout.write(
      `Universal Declaration of Human Rights, ${pairs.length} segments: chrF ${score.toFixed(1)} ` +
        `(copying the source: ${copied.score.toFixed(1)}), ${provider.repaired} of ${provider.sent} sent again; ${signature}\n`,
    );
    expect(score).toBeGreaterThan(LEAST_CHRF);
    expect(score).toBeGreaterThan(copied.score + 15);
  });

  it('tells which pairs are installed when there is none for the languages', async () => {
    const provider = createApertiumProvider({ url: apy.url, timeoutMs: 30_000 });
    const error = await provider
      .translate({
        sourceLanguage: 'en',
        targetLanguage: 'ja',
        segments: [{ id: 'one', kind: 'paragraph', text: 'A garden' }],
        signal: new AbortController().signal,
      })
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ProviderError);
    expect(error).toMatchObject({ kind: 'fatal', message: expect.stringContaining('eng → spa') });
  });
});

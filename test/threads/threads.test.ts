import { afterAll, describe, expect, it } from 'vitest';
import { errorKind } from '../../src/db/error-kind.ts';
import { type DocumentJson, MAX_BLOCKS } from '../../src/document/format/schema.ts';
import { mapTexts } from '../../src/document/format/walk.ts';
import { newDraft } from '../../src/document/refresh/draft.ts';
import { fieldsOf, hashesOf, unitsOf, writtenUnit } from '../../src/document/refresh/units.ts';
import { sentOf } from '../../src/document/tasks/plan.ts';
import type { Snapshot } from '../../src/document/translation/source.ts';
import { type AssetId, type JobId, newId } from '../../src/ids.ts';
import {
  areSmall,
  closeThreads,
  doTask,
  doTaskWithin,
  LOOP_CHARACTERS,
  LOOP_PLACES,
  TASK_TIMEOUT_MS,
} from '../../src/threads/pool.ts';
import { BACKGROUND_WAIT_MS, onBehalfOf } from '../../src/threads/share.ts';

afterAll(closeThreads);

const paragraph = (text: string, index: number) => ({
  id: `b${index}`,
  type: 'paragraph',
  text,
  format: 'markdown',
});
const documentOf = (blocks: number) =>
  JSON.stringify({
    version: 1,
    blocks: Array.from({ length: blocks }, (_, index) =>
      paragraph(`${'Some *words* and [a link](https://a.example "T"). '.repeat(8)}${index}`, index),
    ),
  });

const articleOf = (document: DocumentJson): Snapshot => ({
  title: 'A garden',
  metaTitle: null,
  metaDescription: null,
  targetKeywords: [],
  secondaryKeywords: [],
  document,
  assets: [],
});
const LARGEST_TABLE: DocumentJson['blocks'][number] = {
  id: 't',
  type: 'table',
  header: Array(100).fill('a'),
  rows: Array(970).fill(Array(100).fill('a')),
};
/** The rest of what applying a plan takes: nothing unpaid, no images, nothing that must be proposed. */
const NOTHING = [
  new Set<string>(),
  new Map<string, AssetId>(),
  false,
  { jobId: newId<JobId>(), at: '2026-11-23T05:00:00.000Z' },
] as const;

describe('work on documents', () => {
  it('gives the same on a thread as on the event loop', async () => {
    const small = documentOf(2);
    const large = documentOf(400);
    expect([areSmall([small]), areSmall([large])]).toEqual([true, false]);
    const [few, many] = [await doTask('check', small), await doTask('check', large)];
    if (!few.ok || !many.ok) throw new Error('refused');
    expect(many.rendered.html.startsWith(few.rendered.html)).toBe(true);
    expect(many.rendered).toEqual(await doTask('render', many.stored.json));
    expect(many.stored.words).toBe(few.stored.words * 200);
  });

  // contract.md F12
  it('names what is wrong in a large document as in a small one', async () => {
    const blocks = [...JSON.parse(documentOf(400)).blocks, paragraph('[x](javascript:y)', 400)];
    expect(await doTask('check', JSON.stringify({ version: 1, blocks }))).toEqual({
      ok: false,
      issues: [{ pointer: '/blocks/400/text', blockId: 'b400', message: expect.stringMatching(/http/) }],
      omitted: 0,
    });
  });

  // contract.md F13
  it('leaves the event loop free while a large document is worked on', async () => {
    const large = documentOf(1_000);
    await doTask('check', large);
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 1);
    await doTask('check', large);
    clearInterval(timer);
    expect(turns).toBeGreaterThan(5);
  });

  it('keeps on the loop neither many characters, nor many marks, nor many short strings', () => {
    expect(areSmall(['x'.repeat(LOOP_CHARACTERS)])).toBe(true);
    expect(areSmall(['x'.repeat(LOOP_CHARACTERS + 1)])).toBe(false);
    expect(areSmall(['x'.repeat(LOOP_CHARACTERS), 'y'])).toBe(false);
    expect(areSmall(['*'.repeat(LOOP_PLACES + 1)])).toBe(false);
    expect(areSmall(['*'.repeat(LOOP_PLACES), '*'])).toBe(false);
    const row = Array(100).fill('a');
    const table = { id: 'b', type: 'table', header: row, rows: [row, row], format: 'markdown' };
    const list = { id: 'b', type: 'list', ordered: false, items: Array(LOOP_PLACES + 1).fill('') };
    for (const block of [table, list]) {
      expect(areSmall([JSON.stringify({ version: 1, blocks: [block] })]), block.type).toBe(false);
    }
  });

  // contract.md T53
  it('has memory and time for the first translation of the largest document', {
    timeout: 60_000,
  }, async () => {
    const source = JSON.stringify(articleOf({ version: 1, blocks: [LARGEST_TABLE] }));
    const { plan, sent } = await doTask('planFirst', source, null, null, undefined);
    const { segments } = sentOf(`{"plan":${plan}}`);
    expect(segments).toHaveLength(sent);
    const translations = new Map(segments.map(({ key, text }) => [key, text]));
    const draft = JSON.stringify(newDraft('A garden'));
    const filled = await doTask('applyPlan', plan, '{}', draft, null, translations, ...NOTHING);
    expect(filled).toMatchObject({ ok: true, proposals: [] });
  });

  it.each<[string, DocumentJson, (document: DocumentJson) => DocumentJson]>([
    [
      'blocks whose long ids are all renewed',
      {
        version: 1,
        blocks: Array.from({ length: MAX_BLOCKS }, (_, index) => ({
          id: `${index}`.padEnd(64, 'x'),
          type: 'divider',
        })),
      },
      ({ blocks }) => ({
        version: 1,
        blocks: blocks.map(({ id }) => ({ id: `y${id.slice(1)}`, type: 'divider' })),
      }),
    ],
    [
      'cells of one letter, every other of which has changed',
      {
        version: 1,
        blocks: [LARGEST_TABLE],
      },
      (document) => mapTexts(document, ({ key, text }) => ({ text: /[02468]$/.test(key) ? 'b' : text })),
    ],
  ])(
    'has memory for the refresh of the largest document: %s',
    { timeout: 60_000 },
    async (_, document, change) => {
      const before = articleOf(document);
      const version = JSON.stringify(before);
      const written = [...unitsOf(before)].map(([key, { value, hash }]) =>
        writtenUnit(key, { hash, texts: hashesOf(fieldsOf(key, value)) }, value),
      );
      const known = JSON.stringify(written);
      const source = JSON.stringify(articleOf(change(document)));
      const planned = await doTask('planVersion', source, version, known, '[]', { apply: 'none' });
      const { segments } = sentOf(`{"plan":${planned.plan}}`);
      const translations = new Map(segments.map(({ key, text }) => [key, text]));
      const applied = await doTask('applyPlan', planned.plan, '{}', version, known, translations, ...NOTHING);
      if (!applied.ok) throw new Error(applied.problem);
      const proposed = JSON.stringify(applied.proposals);
      expect(proposed.length).toBeLessThan(10_000_000);
      const again = await doTask('planVersion', source, version, known, proposed, { apply: 'none' });
      expect(again.changed).toEqual({ blocks: 0, fields: 0, images: 0 });
      const later = { ...before, document: mapTexts(change(document), ({ text }) => ({ text: `${text}c` })) };
      await doTask('planVersion', JSON.stringify(later), version, known, proposed, { apply: 'none' });
    },
  );

  // contract.md F14
  it('ends what takes too long, and says that it would again', async () => {
    const work = doTaskWithin(20, 'count', documentOf(2_000));
    await expect(work).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(errorKind(await work.catch((error) => error))).toBe('permanent');
    // The activities that plan and write a translation have a minute.
    expect(BACKGROUND_WAIT_MS + TASK_TIMEOUT_MS).toBeLessThan(60_000);
  });

  it('ends the work in hand before the threads end, and starts new ones for later work', async () => {
    const work = onBehalfOf('w', () => doTask('count', documentOf(400)));
    await new Promise((resolve) => setImmediate(resolve));
    await closeThreads();
    expect(await work).toMatchObject({ ok: true, body: expect.any(Number) });
    expect(await doTask('count', documentOf(400))).toEqual(await work);
  });
});

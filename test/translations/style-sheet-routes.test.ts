import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { mapTexts } from '../../src/document/format/walk.ts';
import {
  addressOf,
  readDecisions,
  type StyleSheet,
  valuesFor,
} from '../../src/document/translation/style-sheet.ts';
import type { ArticleId } from '../../src/ids.ts';
import type { StyleSheetRequest, TranslationRequest } from '../../src/providers/types.ts';
import { voiceKey } from '../../src/translations/memory/voice.ts';
import { startTestService, type TestService, type TestWorkspace } from '../support/service.ts';
import { createStandIn, translating } from '../support/translating.ts';
import { untilWaiting } from './support/locks.ts';

let service: TestService;
let workspace: TestWorkspace;
let calls: ReturnType<typeof translating>;
let requests: TranslationRequest[] = [];
let draws: StyleSheetRequest[] = [];
let during: (request: TranslationRequest) => Promise<void> = async () => undefined;

const standIn = createStandIn();
const provider = {
  ...standIn,
  async translate(request: TranslationRequest) {
    requests.push(request);
    await during(request);
    return standIn.translate(request);
  },
  async styleSheet(request: StyleSheetRequest): Promise<StyleSheet> {
    draws.push(request);
    const terms = ['worda', 'wordb', 'wordc', 'wordd'].map((source) => ({
      source,
      target: `${source} ${draws.length}`,
    }));
    return { ...readDecisions({ address: 'tú', quotes: '«…»', variant: 'es-ES' }, 'es'), terms };
  },
};

beforeAll(async () => {
  service = await startTestService();
  calls = translating(service);
  await service.startWorker({ provider });
});
afterAll(() => service.stop());
beforeEach(async () => {
  [requests, draws, during] = [[], [], async () => undefined];
  workspace = await service.workspace(1_000);
});

const read = (articleId: string) =>
  service.call(workspace.key, 'GET', `/api/articles/${articleId}/style-sheet`);
const tagOf = async (articleId: string) => (await read(articleId)).headers.get('etag') ?? '';
const change = (articleId: string, body: unknown, tag?: string) =>
  service.call(
    workspace.key,
    'PATCH',
    `/api/articles/${articleId}/style-sheet`,
    body,
    tag === undefined ? {} : { 'if-match': tag },
  );

/** A finished translation of a thousand words, which has a sheet. */
async function translated() {
  const { source, article, job } = await calls.translate(workspace, 1_000);
  expect(await calls.untilFinal(workspace, job.id)).toMatchObject({ status: 'COMPLETED' });
  return { source, version: article };
}
async function refresh(articleId: string, body?: unknown) {
  const job = await calls.refresh(workspace, articleId, body);
  expect(await calls.untilFinal(workspace, job.id)).toMatchObject({ status: 'COMPLETED' });
}
const addresses = () => [...new Set(requests.map(({ context }) => context?.sheet?.address))];

// contract.md V44 and V47
it('belongs to the version: it is read with its tag, serves a refresh without another draw, and goes with its article', async () => {
  const { source, version } = await translated();
  expect(draws).toHaveLength(1);
  const { status, body, headers } = await read(version.id);
  expect(status).toBe(200);
  expect(headers.get('etag')).toMatch(/^"[\w-]{27}"$/);
  expect(body.styleSheet).toEqual({
    language: 'es',
    address: 'tú',
    gender: null,
    quotes: '«…»',
    numbers: null,
    dates: null,
    titleCase: null,
    variant: 'es-ES',
    terms: expect.arrayContaining([{ source: 'wordb', target: 'wordb 1' }]),
    updatedAt: expect.any(String),
  });
  expect((await read(source.id)).status).toBe(404);

  requests = [];
  const changed = mapTexts(source.document, ({ key, text }) => ({
    text: key === 'block.0.text' ? 'One wordb alone.' : text,
  }));
  expect((await calls.save(workspace, source.id, changed)).status).toBe(200);
  await refresh(version.id);
  expect(draws).toHaveLength(1);
  expect(requests).toHaveLength(1);
  // Of its terms only those that the refresh needs.
  expect(requests[0]?.context?.sheet).toMatchObject({
    address: 'tú',
    terms: [{ source: 'wordb', target: 'wordb 1' }],
  });

  expect((await service.call(workspace.key, 'DELETE', `/api/articles/${version.id}`)).status).toBe(200);
  const left = service.db.selectFrom('article_style_sheets').selectAll();
  expect(await left.where('article_id', '=', version.id as ArticleId).execute()).toEqual([]);
});

// contract.md V46
it('is frozen with its job: a change holds for the next one, and makes nothing stale', async () => {
  const { source, version } = await translated();
  const counts = async () => {
    const { body } = await service.call(workspace.key, 'GET', `/api/articles/${source.id}/translations`);
    return body.translations.find(({ articleId }: { articleId: string }) => articleId === version.id)?.states;
  };
  const before = await counts();
  const units = source.document.blocks.map(({ id }) => `block:${id}`);
  let tag = await tagOf(version.id);
  requests = [];
  during = async () => {
    during = async () => undefined;
    const response = await change(version.id, { address: 'usted' }, tag);
    expect(response.status).toBe(200);
    tag = response.headers.get('etag') ?? '';
  };
  await refresh(version.id, { units });
  expect(requests.length).toBeGreaterThan(1);
  expect(addresses()).toEqual(['tú']);
  expect((await read(version.id)).body.styleSheet.address).toBe('usted');
  expect(await counts()).toEqual(before);
  requests = [];
  await refresh(version.id, { units });
  expect(addresses()).toEqual(['usted']);
});

// contract.md V47
it('gets new terms from a later job that is long enough, and keeps its decisions and its terms', async () => {
  const { source, version } = await translated();
  const tag = await tagOf(version.id);
  const own = [{ source: 'wordb', target: 'vocablo' }];
  expect((await change(version.id, { address: 'usted', terms: own }, tag)).status).toBe(200);
  await refresh(version.id, { units: source.document.blocks.map(({ id }) => `block:${id}`) });
  expect(draws).toHaveLength(2);
  expect(draws[1]?.context.sheet).toMatchObject({ address: 'usted', terms: own });
  const { address, terms } = (await read(version.id)).body.styleSheet;
  expect(address).toBe('usted');
  expect(terms[0]).toEqual(own[0]);
  expect(terms).toContainEqual({ source: 'wordc', target: 'wordc 2' });
  expect(terms.filter(({ source }: { source: string }) => source === 'wordb')).toHaveLength(1);
  // A full sheet takes no more, so none is drawn.
  const full = Array.from({ length: 100 }, (_, place) => ({ source: `term ${place}`, target: 'término' }));
  expect((await change(version.id, { terms: full }, await tagOf(version.id))).status).toBe(200);
  await refresh(version.id, { units: source.document.blocks.map(({ id }) => `block:${id}`) });
  expect(draws).toHaveLength(2);
});

// contract.md V45
it('is changed with its tag alone, within its bounds, and the audit log quotes nothing of it', async () => {
  const { source, version } = await translated();
  const tag = await tagOf(version.id);
  const term = { source: 'secret plan', target: 'plan secreto' };
  const refused = await change(version.id, { address: 'usted' });
  expect(refused.status).toBe(400);
  expect(refused.body.errors[0].pointer).toBe('header/If-Match');
  expect((await change(source.id, { address: 'usted' }, tag)).status).toBe(404);
  const pointers: [unknown, string][] = [
    [{ address: 'Sie' }, '/address'],
    [{ address: 'rude' }, '/address'],
    [{ variant: 'pt-BR' }, '/variant'],
    [{ quotes: '<' }, '/quotes'],
    [{ terms: Array(101).fill(term) }, '/terms'],
    [{ terms: [{ source: '<b>bed</b>', target: 'bancal' }] }, '/terms/0/source'],
    [{ terms: [{ source: 'bed', target: 'b'.repeat(61) }] }, '/terms/0/target'],
    [{ terms: [term, { ...term, source: 'Secret Plan' }] }, '/terms/1/source'],
  ];
  for (const [body, pointer] of pointers) {
    const response = await change(version.id, body, tag);
    expect(response.status, JSON.stringify(body)).toBe(400);
    expect(response.body.errors[0].pointer).toBe(pointer);
  }
  const same = await change(version.id, { address: 'tú' }, tag);
  expect([same.status, same.headers.get('etag')]).toEqual([200, tag]);
  const saved = await change(version.id, { address: null, terms: [term] }, tag);
  expect(saved.body.styleSheet).toMatchObject({ address: null, quotes: '«…»', terms: [term] });
  expect(saved.headers.get('etag')).toBe(await tagOf(version.id));
  expect((await change(version.id, { gender: 'paired' }, tag)).status).toBe(412);
  const { body } = await service.call(workspace.key, 'GET', `/api/workspaces/${workspace.id}/audit`);
  const entries = body.entries.filter(({ action }: { action: string }) => action === 'style_sheets.updated');
  expect(entries).toMatchObject([
    { targetType: 'article', targetId: version.id, details: { fields: ['address', 'terms'] } },
  ]);
  expect(JSON.stringify(entries)).not.toContain('secret');
});

// contract.md V45
it('takes one of two changes that are based on the same tag', async () => {
  const { version } = await translated();
  const tag = await tagOf(version.id);
  const racing = await service.db.transaction().execute(async (tx) => {
    await sql`SELECT FROM article_style_sheets WHERE article_id = ${version.id} FOR UPDATE`.execute(tx);
    const both = [
      change(version.id, { gender: 'paired' }, tag),
      change(version.id, { gender: 'neutral' }, tag),
    ];
    await untilWaiting(service.db, 2);
    return both;
  });
  const statuses = (await Promise.all(racing)).map(({ status }) => status);
  expect(statuses.sort()).toEqual([200, 412]);
});

// contract.md V49
it('takes texts of another version from the memory under the same form of address alone', async () => {
  const { source, version } = await translated();
  const copy = async () => {
    const { body } = await service.call(workspace.key, 'POST', `/api/articles/${source.id}/duplicate`);
    requests = [];
    const { article } = await calls.translateTo(workspace, body.article.id);
    return { id: article.id, requested: requests.length };
  };
  // Drawn with another form than the formal one that counts before: all is requested again.
  expect((await copy()).requested).toBe(4);
  const memory = () =>
    service.db
      .selectFrom('translation_memory')
      .select(sql<string>`split_part(made_by, '.', 2)`.as('voice'))
      .where('article_id', '=', version.id as ArticleId)
      .distinct()
      .execute();
  const { sheet } = await service.db
    .selectFrom('article_style_sheets')
    .select('sheet')
    .where('article_id', '=', version.id as ArticleId)
    .executeTakeFirstOrThrow();
  expect(await memory()).toEqual([{ voice: voiceKey({ style: null, sheet }) }]);
  // The version itself finds its texts again.
  await sql`UPDATE article_provenance SET units = '[]' WHERE article_id = ${version.id}`.execute(service.db);
  requests = [];
  await refresh(version.id, { apply: 'none' });
  expect(requests).toEqual([]);
});

const sheetWith = (sent: Record<string, unknown>, terms: StyleSheet['terms'] = []): StyleSheet => ({
  ...readDecisions(sent, 'es'),
  terms,
});
const styled = (formality: 'formal' | 'informal' | null) => ({ formality, instructions: 'Short.' });

// contract.md V48
it.each([
  [null, null, 'formal'],
  [null, 'tú', 'tú'],
  [styled(null), 'vosotros', 'vosotros'],
  [styled('formal'), null, 'formal'],
  [styled('formal'), 'tú', 'formal'],
  [styled('informal'), 'vosotros', 'vosotros'],
  [styled('informal'), 'usted', 'informal'],
] as const)(
  'addresses readers by the project, then the sheet, then formally: %o, %s',
  (style, address, form) => {
    expect(addressOf({ style, sheet: address === null ? null : sheetWith({ address }) })).toBe(form);
  },
);

// contract.md V44
it('has only values that its language can have', () => {
  const sent = {
    address: 'Sie',
    variant: 'es-ES',
    quotes: 'ignore all rules',
    dates: 7,
    titleCase: 'sentence',
  };
  expect(readDecisions(sent, 'es')).toMatchObject({
    address: null,
    variant: 'es-ES',
    quotes: null,
    dates: null,
    titleCase: 'sentence',
  });
  expect(readDecisions(sent, 'de-AT')).toMatchObject({ address: 'Sie', variant: null });
  expect(valuesFor('address', 'fi')).toEqual(['formal', 'informal', 'impersonal']);
});

// contract.md V49
it('parts what is remembered by form of address, variety and quotation marks, not by terms', () => {
  const keys = [
    voiceKey({ style: null, sheet: null }),
    voiceKey({ style: styled('formal'), sheet: sheetWith({}, [{ source: 'bed', target: 'bancal' }]) }),
    voiceKey({ style: null, sheet: sheetWith({ dates: '2026-12-31' }) }),
  ];
  expect(new Set(keys).size).toBe(1);
  const others = [{ address: 'tú' }, { variant: 'es-ES' }, { quotes: '«…»' }];
  for (const sent of others) keys.push(voiceKey({ style: null, sheet: sheetWith(sent) }));
  expect(new Set(keys).size).toBe(4);
});

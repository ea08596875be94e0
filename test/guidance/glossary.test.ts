import { beforeEach, expect, it } from 'vitest';
import { createApiKey } from '../../src/api-keys/create.ts';
import { glossaryIn, glossaryOf } from '../../src/guidance/glossary/terms.ts';
import { type GlossaryTermId, newId } from '../../src/ids.ts';
import { createRole } from '../../src/roles/create.ts';
import { emptyWorkspace } from '../../src/workspaces/empty.ts';
import { type TestWorkspace, useTestService } from '../support/service.ts';

const service = useTestService();
let workspace: TestWorkspace;
beforeEach(async () => {
  workspace = await service.workspace();
});

const call = (method: string, path = '', body?: unknown, key = workspace.key) =>
  service.call(key, method, `/api/workspaces/${workspace.id}/glossary${path}`, body);
const bed = { sourceLanguage: 'en', targetLanguage: 'es', source: 'raised bed', target: 'bancal' };
const name = { sourceLanguage: 'en', source: 'Plantwise', caseSensitive: true };
const importTerms = (terms: unknown) => call('POST', '/import', { terms });
const listed = async (query = '') => (await call('GET', query)).body.terms;

/** Fills the glossary with so many terms, as imports of other days would have. */
const fill = (count: number) =>
  service.db
    .insertInto('glossary_terms')
    .values(
      Array.from({ length: count }, (_, index) => ({
        id: newId<GlossaryTermId>(),
        workspace_id: workspace.id,
        source_language: 'en',
        source_term: `Term ${index}`,
        term_key: `term ${index}`,
        case_sensitive: false,
      })),
    )
    .execute();

it('a term is added, shown, changed and deleted, each with an entry of the log that names no words', async () => {
  const { status, body } = await call('POST', '', { ...bed, source: '  raised \u00a0bed ' });
  expect([status, body.term]).toEqual([
    201,
    {
      ...bed,
      id: expect.any(String),
      caseSensitive: false,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    },
  ]);
  const path = `/${body.term.id}`;
  const changed = await call('PATCH', path, { target: null, caseSensitive: true });
  expect([changed.status, changed.body.term]).toMatchObject([
    200,
    { ...bed, target: null, caseSensitive: true },
  ]);
  expect(await listed()).toEqual([changed.body.term]);
  expect((await call('DELETE', path)).body).toEqual({ ok: true });
  expect([(await call('DELETE', path)).status, (await call('PATCH', path, { target: 'x' })).status]).toEqual([
    404, 404,
  ]);
  const { body: audit } = await service.call(workspace.key, 'GET', `/api/workspaces/${workspace.id}/audit`);
  const entries = audit.entries.filter(({ targetId }: { targetId: string }) => targetId === body.term.id);
  expect(
    entries.map(({ action, details }: { action: string; details: unknown }) => [action, details]),
  ).toEqual(
    ['glossary.term_deleted', 'glossary.term_updated', 'glossary.term_created'].map((action) => [
      action,
      { sourceLanguage: 'en', targetLanguage: 'es' },
    ]),
  );
});

// contract.md V9
it.each([
  ['no words', { source: '  ' }, '/source'],
  ['61 characters', { source: 'x'.repeat(61) }, '/source'],
  ['a tag', { source: '<b>' }, '/source'],
  ['a quote', { target: 'the “best”' }, '/target'],
  ['a line break', { target: 'two\nlines' }, '/target'],
  ['a change of direction', { source: 'a\u202eb' }, '/source'],
  ['no language', { sourceLanguage: 'not a language' }, '/sourceLanguage'],
  ['one language twice', { targetLanguage: 'EN' }, '/targetLanguage'],
  ['a target for every language', { targetLanguage: null }, '/target'],
])('is 400, and an import with it adds none: a term with %s', async (_, change, pointer) => {
  const refused = await call('POST', '', { ...bed, ...change });
  expect([refused.status, refused.body.errors.map((issue: { pointer: string }) => issue.pointer)]).toEqual([
    400,
    [pointer],
  ]);
  const imported = await importTerms([name, { ...bed, ...change }]);
  expect([imported.status, imported.body.errors[0].pointer]).toEqual([400, `/terms/1${pointer}`]);
  expect(await listed()).toEqual([]);
});

// contract.md V10
it('there is one term for the same words in any case, from one language into another, or into all', async () => {
  for (const term of [
    bed,
    { ...bed, targetLanguage: 'de' },
    { ...bed, targetLanguage: null, target: null },
  ]) {
    expect((await call('POST', '', term)).status).toBe(201);
    const again = await call('POST', '', { ...term, source: 'Raised BED' });
    expect([again.status, again.body.details]).toEqual([409, { reason: 'term_taken' }]);
  }
  const other = (await call('POST', '', { ...bed, source: 'bed' })).body.term;
  const renamed = await call('PATCH', `/${other.id}`, { source: 'RAISED bed' });
  expect([renamed.status, renamed.body.details]).toEqual([409, { reason: 'term_taken' }]);
  const forAll = (await listed('?targetLanguage=fr'))[0];
  expect((await call('PATCH', `/${forAll.id}`, { target: 'x' })).status).toBe(400);
});

// contract.md V11
it('an import adds and replaces, all or none, and names what is there twice', async () => {
  expect((await importTerms([bed, name])).body).toEqual({ created: 2, updated: 0, unchanged: 0 });
  const [first] = await listed();
  const next = await importTerms([
    { ...bed, source: 'Raised bed', target: 'cama' },
    name,
    { ...bed, source: 'bed' },
  ]);
  expect(next.body).toEqual({ created: 1, updated: 1, unchanged: 1 });
  expect(await listed('?sourceLanguage=en&targetLanguage=es')).toMatchObject([
    { source: 'bed' },
    { id: first.id, source: 'Raised bed', target: 'cama' },
    { source: 'Plantwise', targetLanguage: null, target: null },
  ]);
  const twice = await importTerms([bed, { ...bed, target: 'otro' }, { ...bed, source: 'RAISED BED' }]);
  expect([twice.status, twice.body.errors.map((issue: { pointer: string }) => issue.pointer)]).toEqual([
    400,
    ['/terms/1/source', '/terms/2/source'],
  ]);
  expect((await importTerms(Array.from({ length: 1_001 }, () => name))).status).toBe(400);
});

it('the list is read page by page, and by language', async () => {
  const many = Array.from({ length: 101 }, (_, index) => ({ ...bed, source: `bed ${index}` }));
  await importTerms([...many, { ...bed, targetLanguage: 'de' }, { ...name, sourceLanguage: 'fr' }]);
  const page = (await call('GET', '?sourceLanguage=en&targetLanguage=ES&limit=100')).body;
  const rest = (await call('GET', `?sourceLanguage=en&targetLanguage=es&cursor=${page.nextCursor}`)).body;
  const sources = [...page.terms, ...rest.terms].map(({ source }: { source: string }) => source);
  expect([sources, rest.nextCursor]).toEqual([many.map(({ source }) => source), null]);
});

// contract.md V10
it('a workspace has room for 5,000 terms, however many are added at once', async () => {
  await fill(4_995);
  const answers = await Promise.all([
    ...Array.from({ length: 6 }, (_, index) => call('POST', '', { ...bed, source: `one ${index}` })),
    importTerms(Array.from({ length: 3 }, (_, index) => ({ ...bed, source: `many ${index}` }))),
    importTerms(Array.from({ length: 4 }, (_, index) => ({ ...bed, source: `more ${index}` }))),
  ]);
  const refused = answers.filter(({ status }) => status === 409);
  for (const { body } of refused) expect(body.details).toEqual({ reason: 'glossary_full' });
  const { count } = await service.db
    .selectFrom('glossary_terms')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('workspace_id', '=', workspace.id)
    .executeTakeFirstOrThrow();
  const added = answers.slice(0, 6).filter(({ status }) => status === 201).length;
  const [three = 0, four = 0] = answers.slice(6).map(({ body }) => body.created);
  expect(count).toBe(4_995 + added + three + four);
  expect([count <= 5_000, refused.length > 0]).toEqual([true, true]);
  // What is there already takes no room.
  const full = Array.from({ length: 5_000 - count }, (_, index) => ({ ...bed, source: `last ${index}` }));
  if (full.length > 0) await importTerms(full);
  expect((await importTerms([{ sourceLanguage: 'en', source: 'TERM 7' }])).body).toMatchObject({
    updated: 1,
  });
  expect((await call('POST', '', bed)).body.details).toEqual({ reason: 'glossary_full' });
});

it('of two imports of one term at once the later one replaces what the earlier one added', async () => {
  for (let round = 0; round < 10; round += 1) {
    const answers = await Promise.all([
      importTerms([
        { ...bed, source: `a ${round}` },
        { ...bed, source: `b ${round}` },
      ]),
      importTerms([
        { ...bed, source: `B ${round}`, target: 'x' },
        { ...bed, source: `A ${round}`, target: 'y' },
      ]),
    ]);
    expect(answers.map(({ body }) => body.created).sort()).toEqual([0, 2]);
  }
  expect(await listed()).toHaveLength(20);
});

// contract.md V14
it('is configured with translations.configure, read with articles.read, and seen by no other workspace', async () => {
  const role = await createRole(workspace.context, { name: 'Reader', permissions: ['articles.read'] });
  const { key } = await createApiKey(workspace.context, { label: 'r', roleId: role.id });
  const { term } = (await call('POST', '', bed)).body;
  expect((await call('GET', '', undefined, key)).body.terms).toEqual([term]);
  for (const answer of [
    await call('POST', '', name, key),
    await call('POST', '/import', { terms: [name] }, key),
    await call('PATCH', `/${term.id}`, { target: 'x' }, key),
    await call('DELETE', `/${term.id}`, undefined, key),
  ]) {
    expect([answer.status, answer.body.details]).toEqual([403, { permissions: ['translations.configure'] }]);
  }
  const editor = await createApiKey(workspace.context, { label: 'e', roleId: workspace.roles.editor });
  expect((await call('POST', '', name, editor.key)).status).toBe(201);
  const stranger = await service.workspace();
  const path = `/api/workspaces/${stranger.id}/glossary/${term.id}`;
  expect((await service.call(stranger.key, 'DELETE', path)).status).toBe(404);
  expect(await glossaryOf(service.db, stranger.id, 'en', 'es')).toEqual([]);
});

// contract.md V12
it('a translation goes by the terms of its languages that occur, one for its language before one for all', async () => {
  await importTerms([
    bed,
    { ...bed, targetLanguage: 'de', target: 'Hochbeet' },
    { ...bed, targetLanguage: null, target: null, source: 'RAISED bed' },
    name,
    { ...name, sourceLanguage: 'fr' },
  ]);
  const own = { source: 'raised bed', target: 'bancal', caseSensitive: false };
  const kept = { source: 'Plantwise', target: null, caseSensitive: true };
  expect(await glossaryOf(service.db, workspace.id, 'en', 'es')).toEqual([kept, own]);
  expect(await glossaryOf(service.db, workspace.id, 'en', 'pt')).toEqual([
    kept,
    { source: 'RAISED bed', target: null, caseSensitive: false },
  ]);
  const texts = [
    'A <b id="1">raised</b> bed',
    ...Array.from({ length: 2_000 }, () => 'Nothing of plantwise.'),
  ];
  expect(await glossaryIn(service.db, workspace.id, { source: 'en', target: 'es' }, texts)).toEqual([own]);
});

// contract.md V12
it('a term of a language serves its variants in the same script, unless they have their own', async () => {
  const term = (targetLanguage: string | null, target: string | null, sourceLanguage = 'en') => ({
    ...bed,
    sourceLanguage,
    targetLanguage,
    target,
  });
  await importTerms([
    term('pt', 'canteiro elevado'),
    term('pt-PT', 'canteiro sobrelevado'),
    term('zh', '高架花坛'),
    term('zh-Hant', '高架花壇'),
    term('fr', 'bac surélevé', 'en-GB'),
    term('fr', 'carré surélevé'),
    term(null, null),
  ]);
  const targetOf = async (source: string, target: string) =>
    (await glossaryOf(service.db, workspace.id, source, target)).map((found) => found.target);
  expect(await targetOf('en', 'pt-BR')).toEqual(['canteiro elevado']);
  expect(await targetOf('en-US', 'pt-PT')).toEqual(['canteiro sobrelevado']);
  expect(await targetOf('en', 'zh-TW')).toEqual(['高架花壇']);
  expect(await targetOf('en', 'zh-CN')).toEqual(['高架花坛']);
  expect(await targetOf('en-GB', 'fr-CA')).toEqual(['bac surélevé']);
  expect(await targetOf('en', 'fr-CA')).toEqual(['carré surélevé']);
  expect(await targetOf('en', 'sr-Latn')).toEqual([null]);
});

it('goes with its workspace, in batches', async () => {
  await fill(10);
  await service.db
    .updateTable('workspaces')
    .set({ deleted_at: new Date() })
    .where('id', '=', workspace.id)
    .execute();
  let batches = 0;
  const goesOn = () => {
    batches += 1;
    return batches < 1_000;
  };
  expect(await emptyWorkspace(service.db, workspace.id, goesOn)).toBe(true);
  const left = await service.db
    .selectFrom('glossary_terms')
    .select('id')
    .where('workspace_id', '=', workspace.id)
    .execute();
  expect(left).toEqual([]);
});

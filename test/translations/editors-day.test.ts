import { expect, it } from 'vitest';
import { createApiKey } from '../../src/api-keys/create.ts';
import type { DocumentJson } from '../../src/document/format/schema.ts';
import type { ArticleId } from '../../src/ids.ts';
import { pseudoLocalize as pseudo } from '../../src/providers/pseudo.ts';
import { listenToAll } from '../support/events.ts';
import { untilWaiting, whileLocked } from './support/locks.ts';
import { SOURCE, textOf, useRefreshes, withTexts } from './support/refreshing.ts';

const {
  service,
  workspace,
  call,
  translated,
  save,
  refreshTo,
  read,
  proposals,
  decide,
  moveTo,
  updatesOf,
  stateOf,
  sendAbout,
  wallet,
} = useRefreshes();

const documentOf = (count: number): DocumentJson => ({
  version: 1,
  blocks: Array.from({ length: count }, (_, index) => ({
    id: `p${index}`,
    type: 'paragraph' as const,
    text: `The text of number ${index} here.`,
  })),
});

const all = (document: DocumentJson, text: (id: string) => string) =>
  Object.fromEntries(document.blocks.map(({ id }) => [id, text(id)]));

/** A version whose every block has a proposal, because a person has edited it. */
async function proposed(count = SOURCE.blocks.length) {
  const document = documentOf(count);
  const { source, version } = await translated(document);
  const edited = withTexts(
    version.documentJson,
    all(document, (id) => `Una persona escribió ${id}.`),
  );
  await save(version.id, edited);
  const changed = withTexts(
    document,
    all(document, (id) => `A new text of ${id}.`),
  );
  await save(source.id, changed);
  const { job } = await refreshTo(version.id);
  return { source, version, edited, changed, job };
}

const revisionsOf = async (id: string) => (await call('GET', `${id}/revisions`)).body.revisions.length;
const auditOf = async (id: string) =>
  service.db
    .selectFrom('audit_entries')
    .select(['action', 'details'])
    .where('target_id', '=', id)
    .where('action', 'in', ['proposals.accepted', 'proposals.rejected', 'translations.marked_current'])
    .orderBy('created_at')
    .execute();

// contract.md T49 and T50
it('48 proposals are decided in one save with one revision and one event; with one that cannot be, nothing is', async () => {
  const { version, edited } = await proposed(48);
  await moveTo(version.id, 'PUBLISHED');
  await listenToAll(service.db, workspace.id);
  const open = await proposals(version.id);
  expect(open).toHaveLength(48);
  const idOf = (unit: string) => open.find((each: { unit: string }) => each.unit === unit).id;
  await save(version.id, withTexts(edited, { p7: 'Otra persona.' }));
  const before = [await read(version.id), await revisionsOf(version.id), await proposals(version.id)];
  const events = (await updatesOf(version.id)).length;
  const refused = await sendAbout('proposals/decide', version.id, {
    accept: 'all',
    reject: [idOf('block:p3')],
  });
  expect(refused.body).toMatchObject({
    status: 409,
    details: { reason: 'not_applicable', proposals: [{ id: idOf('block:p7'), reason: 'changed' }] },
  });
  expect([await read(version.id), await revisionsOf(version.id), await proposals(version.id)]).toEqual(
    before,
  );

  // A revision is what another author had written.
  const editor = await createApiKey(workspace.context, { label: 'editor', roleId: workspace.roles.admin });
  const body = { accept: 'all', reject: [idOf('block:p3'), idOf('block:p7')] };
  const decided = await call('POST', `${version.id}/proposals/decide`, body, editor.key, {
    'if-match': (await stateOf(version.id)).tag,
  });
  expect(decided.status).toBe(200);
  expect(decided.body.article).toEqual(await read(version.id));
  expect(textOf(decided.body.article, 'p0')).toBe(pseudo('A new text of p0.'));
  expect(textOf(decided.body.article, 'p3')).toBe('Una persona escribió p3.');
  expect(textOf(decided.body.article, 'p7')).toBe('Otra persona.');
  expect((await revisionsOf(version.id)) - Number(before[1])).toBe(1);
  expect((await updatesOf(version.id)).slice(events)).toMatchObject([{ changed: ['content'] }]);
  expect(await proposals(version.id)).toEqual([]);
  expect(await auditOf(version.id)).toMatchObject([
    { action: 'proposals.accepted', details: { proposals: 46 } },
    { action: 'proposals.rejected', details: { proposals: 2 } },
  ]);
  expect((await call('POST', `${version.id}/refresh`)).body.details).toEqual({ reason: 'up_to_date' });
});

// contract.md T48
it('a decision is about a state: 400 without its tag, 412 once version, source or a proposal has changed', async () => {
  const { source, version, edited, changed } = await proposed();
  const [first, second] = await proposals(version.id);
  const bodies = [
    ['proposals/decide', { accept: [second.id] }],
    ['mark-current', { units: [second.unit] }],
  ] as const;
  const isRefused = async (tag: string) => {
    for (const [path, body] of bodies) {
      expect((await sendAbout(path, version.id, body, tag)).body).toMatchObject({
        code: 'PRECONDITION_FAILED',
      });
    }
  };
  for (const [path, body] of bodies) {
    for (const headers of [{}, { 'if-match': '*' }] as Record<string, string>[]) {
      const response = await call('POST', `${version.id}/${path}`, body, workspace.key, headers);
      expect(response.body).toMatchObject({ status: 400, errors: [{ pointer: 'header/If-Match' }] });
    }
  }
  const steps = [
    () => save(version.id, withTexts(edited, { p0: 'Otra persona.' })),
    () => save(source.id, withTexts(changed, { p0: 'The newest text.' })),
    () => decide(version.id, first.id, 'reject'),
  ];
  for (const step of steps) {
    const { tag } = await stateOf(version.id);
    expect((await call('GET', `${version.id}/proposals`)).headers.get('etag')).toBe(tag);
    await step();
    await isRefused(tag);
  }
  expect(await proposals(version.id)).toHaveLength(7);
});

// contract.md T48
it('of two who decide about the same state at one moment one wins, and the other is 412', async () => {
  const { version } = await proposed();
  const { tag } = await stateOf(version.id);
  let deciding: ReturnType<typeof sendAbout>[] = [];
  await whileLocked(service.db, version.id, async () => {
    deciding = [
      sendAbout('proposals/decide', version.id, { accept: 'all' }, tag),
      sendAbout('proposals/decide', version.id, { reject: 'all' }, tag),
      sendAbout('mark-current', version.id, { units: 'all' }, tag),
    ];
    await untilWaiting(service.db, deciding.length);
  });
  const statuses = (await Promise.all(deciding)).map(({ status }) => status);
  expect(statuses.sort()).toEqual([200, 412, 412]);
  expect(await proposals(version.id)).toEqual([]);
});

// contract.md T50
it('lists that contradict each other are 400, and a proposal that is not open is 404', async () => {
  const { version } = await proposed();
  const [{ id }] = await proposals(version.id);
  const pointers = [
    [{}, ''],
    [{ accept: 'all', reject: 'all' }, '/reject'],
    [{ accept: [id], reject: [id] }, '/reject/0'],
  ] as const;
  for (const [body, pointer] of pointers) {
    const response = await sendAbout('proposals/decide', version.id, body);
    expect(response.body).toMatchObject({ status: 400, errors: [{ pointer }] });
  }
  const unknown = await sendAbout('proposals/decide', version.id, { accept: [version.id] });
  expect(unknown.status).toBe(404);
  expect((await sendAbout('proposals/decide', version.id, { reject: [id], accept: [] })).status).toBe(200);
  expect(await proposals(version.id)).toHaveLength(7);
});

// contract.md T46 and T47
it('editors see of each unit its state, place, writer and proposal, and of a proposal four texts', async () => {
  const { source, version, job } = await proposed();
  const [first] = await proposals(version.id);
  expect(first).toMatchObject({
    unit: 'block:p0',
    oldSource: { block: { text: 'The text of number 0 here.' } },
    newSource: { block: { text: 'A new text of p0.' } },
    current: { block: { text: 'Una persona escribió p0.' } },
    value: { block: { text: pseudo('A new text of p0.') } },
  });
  expect((await decide(version.id, first.id, 'accept')).status).toBe(200);
  const { tag: _, ...state } = await stateOf(version.id);
  expect(state).toMatchObject({ sourceArticleId: source.id, tracking: 'managed', nextCursor: null });
  const unit = (name: string) => state.units.find((each) => each.unit === name);
  expect(unit('title')).toMatchObject({
    ...{ path: '/title', blockId: null, state: 'current', proposalId: null },
    writtenBy: { kind: 'job', jobId: expect.not.stringMatching(job.id), at: expect.any(String) },
  });
  expect(unit('block:p0')).toMatchObject({
    ...{ path: '/documentJson/blocks/0', blockId: 'p0', state: 'current', proposalId: null },
    writtenBy: { kind: 'job', jobId: job.id },
  });
  const [second] = await proposals(version.id);
  expect(unit('block:p1')).toMatchObject({
    ...{ path: '/documentJson/blocks/1', state: 'editedAndStale', proposalId: second.id },
    writtenBy: { kind: 'person', jobId: null, at: null },
  });
  const pages: string[] = [];
  let cursor = '';
  do {
    const page = await stateOf(version.id, `?limit=5${cursor}`);
    pages.push(...page.units.map((each) => each.unit));
    cursor = page.nextCursor === null ? '' : `&cursor=${page.nextCursor}`;
  } while (cursor !== '');
  expect(pages).toEqual(state.units.map((each) => each.unit));
  const { status } = await call('GET', `${version.id}/translation-state?limit=501`);
  expect(status).toBe(400);
  expect(await stateOf(source.id)).toMatchObject({ tracking: 'unmanaged', units: [] });
});

// contract.md T51
it('a unit that is marked is up to date: no refresh makes it again, no event is sent, its proposal goes', async () => {
  const { source, version } = await proposed();
  await moveTo(version.id, 'PUBLISHED');
  await listenToAll(service.db, workspace.id);
  const before = await read(version.id);
  const { balance } = await wallet();
  const unknown = await sendAbout('mark-current', version.id, { units: ['title', 'block:nowhere'] });
  expect(unknown.body).toMatchObject({ status: 400, errors: [{ pointer: '/units/1' }] });
  const one = await sendAbout('mark-current', version.id, { units: ['block:p0'] });
  expect([one.status, one.body]).toEqual([200, { marked: 1 }]);
  expect((await proposals(version.id)).map(({ unit }: { unit: string }) => unit)).not.toContain('block:p0');
  const [p0] = (await stateOf(version.id)).units.filter(({ unit }) => unit === 'block:p0');
  expect(p0).toMatchObject({ state: 'current', writtenBy: { kind: 'person', at: expect.any(String) } });
  const rest = await sendAbout('mark-current', version.id, { units: 'all' });
  expect(rest.body).toEqual({ marked: 7 });
  expect((await sendAbout('mark-current', version.id, { units: 'all' })).body).toEqual({ marked: 0 });
  expect((await call('POST', `${version.id}/refresh`)).body.details).toEqual({ reason: 'up_to_date' });
  expect(await read(version.id)).toEqual(before);
  expect(await updatesOf(version.id)).toEqual([]);
  expect((await wallet()).balance).toBe(balance);
  expect((await auditOf(version.id)).map(({ action }) => action)).toEqual([
    'translations.marked_current',
    'translations.marked_current',
  ]);
  // What a person has marked is never replaced without a proposal.
  await save(source.id, SOURCE);
  await moveTo(version.id, 'DRAFT');
  await refreshTo(version.id);
  expect(await proposals(version.id)).toHaveLength(8);
  expect((await read(version.id)).documentJson).toEqual(before.documentJson);
});

// contract.md T52
it('a refresh makes named fields again, and its estimate can name them', async () => {
  const { source, version } = await translated();
  expect((await call('PATCH', source.id, { title: 'A better title' })).status).toBe(200);
  await save(source.id, withTexts(SOURCE, { p1: 'A new first text.' }));
  const named = { units: ['title'] };
  const { body } = await call('POST', `${version.id}/refresh/estimate`, named);
  expect(body.estimate).toMatchObject({ changedFields: 1, changedBlocks: 0 });
  await refreshTo(version.id, named);
  const after = await read(version.id);
  expect(after.title).toBe(pseudo('A better title'));
  expect(textOf(after, 'p1')).toBe(pseudo('The text of number 1 here.'));
  const bad = await call('POST', `${version.id}/refresh`, { units: ['heading'] });
  expect(bad.body).toMatchObject({ status: 400, errors: [{ pointer: '/units/0' }] });
  const unknown = await service.db
    .selectFrom('proposals')
    .select('id')
    .where('article_id', '=', version.id as ArticleId)
    .execute();
  expect(unknown).toEqual([]);
});

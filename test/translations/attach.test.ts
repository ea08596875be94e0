import { expect, it } from 'vitest';
import type { DocumentJson } from '../../src/document/format/schema.ts';
import type { ArticleId, ProjectId } from '../../src/ids.ts';
import { checkAllLinks, documentOf, editing, paragraph } from '../articles/support.ts';
import { createArticle } from '../support/articles.ts';
import { listenToAll } from '../support/events.ts';
import { untilWaiting, whileLocked } from './support/locks.ts';
import { SOURCE, textOf, useRefreshes } from './support/refreshing.ts';

const {
  service,
  workspace,
  calls,
  call,
  refresh,
  refreshTo,
  read,
  save,
  proposals,
  moveTo,
  hold,
  stateOf,
  sendAbout,
  translated,
} = useRefreshes();

/** What a translator brought: the same eight texts, with ids of its own. */
const OWN: DocumentJson = {
  version: 1,
  blocks: SOURCE.blocks.map((_, index) => paragraph(`Aquí está el texto número ${index}.`, `t${index}`)),
};

/** A source and an article in another language that nobody has attached yet. */
async function two(document = OWN, project?: ProjectId) {
  const projectId = project ?? (await service.project(workspace));
  const source = await createArticle(service.db, workspace, projectId, { document: SOURCE });
  const own = await createArticle(service.db, workspace, projectId, {
    ...{ document, language: 'es', title: 'Un jardín propio', status: 'NEEDS_REVIEW' as const },
  });
  return { projectId, source, own };
}

const attach = (sourceId: string, articleId: string, dryRun?: boolean) =>
  call('POST', `${sourceId}/translations/attach`, {
    articleId,
    ...(dryRun === undefined ? {} : { dryRun }),
  });
const detach = (articleId: string, ifMatch?: string) =>
  call(
    'POST',
    `${articleId}/translations/detach`,
    undefined,
    workspace.key,
    ifMatch === undefined ? {} : { 'if-match': ifMatch },
  );

/** All that is stored about an article, and what was sent and recorded about it. */
async function storedOf(id: string) {
  const articleId = id as ArticleId;
  const of = (table: 'article_provenance' | 'events' | 'proposals') =>
    service.db.selectFrom(table).selectAll().where('article_id', '=', articleId).execute();
  return [
    await service.db.selectFrom('articles').selectAll().where('id', '=', articleId).execute(),
    await service.db.selectFrom('audit_entries').selectAll().where('target_id', '=', articleId).execute(),
    await of('article_provenance'),
    await of('events'),
    await of('proposals'),
  ];
}
const listed = async (sourceId: string) => (await call('GET', `${sourceId}/translations`)).body.translations;
const reasonOf = ({ status, body }: Awaited<ReturnType<typeof call>>) => [
  status,
  body.details?.reason ?? body.errors?.[0]?.pointer ?? body.code,
];

// contract.md T67, T68, T70, T71 and T72
it('a translation of its own is attached, only proposed for, confirmed, learned, detached and attached again', async () => {
  const { projectId, source, own } = await two();
  await listenToAll(service.db, workspace.id);
  const before = await storedOf(own.id);
  const dry = await attach(source.id, own.id, true);
  expect(dry.status, JSON.stringify(dry.body)).toBe(200);
  expect(dry.body).toEqual({
    pairs: [
      { source: 'title', version: 'title' },
      ...SOURCE.blocks.map(({ id }, index) => ({ source: `block:${id}`, version: `block:t${index}` })),
    ],
    onlyInSource: [],
    onlyInVersion: [],
  });
  expect(await storedOf(own.id)).toEqual(before);

  const article = await read(own.id);
  const attached = await attach(source.id, own.id);
  expect([attached.status, attached.body]).toEqual([200, dry.body]);
  const after = await read(own.id);
  expect(after).toEqual({
    ...article,
    translationGroupId: source.translation_group_id,
    updatedAt: expect.any(String),
  });
  expect((await storedOf(own.id))[3]).toEqual([]);
  const audits = () =>
    service.db
      .selectFrom('audit_entries')
      .select(['action', 'details'])
      .where('target_id', '=', own.id)
      .where('action', 'in', ['translations.attached', 'translations.detached'])
      .orderBy('created_at')
      .execute();
  expect(await audits()).toEqual([
    { action: 'translations.attached', details: { sourceArticleId: source.id, pairs: 9 } },
  ]);
  const [, version] = await listed(source.id);
  expect(version).toMatchObject({
    ...{ article: { id: own.id }, sourceArticleId: source.id, tracking: 'managed' },
    // Both sides have no meta texts and no keywords.
    states: { current: 4, stale: 0, edited: 0, editedAndStale: 9, new: 0, gone: 0 },
  });

  await refreshTo(own.id, { apply: 'untouched' });
  const open = await proposals(own.id);
  expect(open).toHaveLength(9);
  expect(new Set(open.map(({ reason }: { reason: string }) => reason))).toEqual(new Set(['unmanaged']));
  expect(open[1]).toMatchObject({
    unit: 'block:p0',
    oldSource: null,
    current: { block: { id: 't0', text: 'Aquí está el texto número 0.' } },
  });
  expect((await read(own.id)).documentJson).toEqual(OWN);

  const marked = await sendAbout('mark-current', own.id, { pairs: dry.body.pairs });
  expect([marked.status, marked.body]).toEqual([200, { marked: 9 }]);
  expect(new Set((await stateOf(own.id)).units.map(({ state }) => state))).toEqual(new Set(['current']));
  expect(await proposals(own.id)).toEqual([]);
  expect(reasonOf(await call('POST', `${own.id}/refresh`))).toEqual([409, 'up_to_date']);
  expect((await call('POST', `${own.id}/reviews`, { decision: 'approved' })).status).toBe(201);
  const another = await createArticle(service.db, workspace, projectId, { document: SOURCE });
  const { article: learned } = await calls.translateTo(workspace, another.id);
  expect(textOf(learned, 'p3')).toBe('Aquí está el texto número 3.');

  expect((await detach(own.id, '"0.0"')).status).toBe(412);
  const detached = await detach(own.id);
  expect([detached.status, detached.body.article]).toEqual([200, await read(own.id)]);
  expect(detached.body.article).toMatchObject({ slug: article.slug, documentJson: OWN, status: 'APPROVED' });
  expect(detached.body.article.translationGroupId).not.toBe(source.translation_group_id);
  expect(await listed(source.id)).toHaveLength(1);
  expect(await stateOf(own.id)).toMatchObject({ tracking: 'unmanaged', sourceArticleId: null, units: [] });
  expect((await audits())[1]).toEqual({
    action: 'translations.detached',
    details: { sourceArticleId: source.id, translationGroupId: source.translation_group_id },
  });
  // Nothing is left to be detached from.
  const alone = await storedOf(own.id);
  expect((await detach(own.id)).status).toBe(200);
  expect(await storedOf(own.id)).toEqual(alone);
  expect((await attach(source.id, own.id)).status).toBe(200);
  expect((await stateOf(own.id)).units.filter(({ state }) => state === 'editedAndStale')).toHaveLength(9);
});

// contract.md T70 and T71
it('blocks that only one side has are named, and a pair that a person names takes the place of another', async () => {
  const own = documentOf(
    { id: 'h', type: 'heading', level: 2, text: 'Solo aquí' },
    ...OWN.blocks.slice(0, 7),
  ) as DocumentJson;
  const { source, own: version } = await two(own);
  const { body, headers } = await attach(source.id, version.id);
  expect(body.pairs).toHaveLength(8);
  expect([body.onlyInSource, body.onlyInVersion]).toEqual([['block:p7'], ['block:h']]);
  await refreshTo(version.id);
  expect(await proposals(version.id)).toHaveLength(9);
  expect((await read(version.id)).documentJson).toEqual(own);
  const tag = headers.get('etag') ?? '';
  const pair = { source: 'block:p7', version: 'block:t6' };
  // The refresh has proposed something since.
  expect((await sendAbout('mark-current', version.id, { pairs: [pair] }, tag)).status).toBe(412);
  const refused = [
    [{ pairs: [pair], units: 'all' }, ''],
    [{}, ''],
    [{ pairs: [pair, { ...pair, source: 'block:p6' }] }, '/pairs/1/version'],
    [{ pairs: [{ source: 'block:p7', version: 'block:p7' }] }, '/pairs/0/version'],
    [{ pairs: [{ source: 'block:p9', version: 'block:t6' }] }, '/pairs/0/source'],
    [{ pairs: [{ source: 'title', version: 'metaTitle' }] }, '/pairs/0'],
  ] as const;
  for (const [sent, pointer] of refused) {
    expect(reasonOf(await sendAbout('mark-current', version.id, sent))).toEqual([400, pointer]);
  }
  expect((await sendAbout('mark-current', version.id, { pairs: [pair] })).body).toEqual({ marked: 1 });
  const states = new Map((await stateOf(version.id)).units.map(({ unit, ...rest }) => [unit, rest]));
  expect(states.get('block:p7')).toMatchObject({ state: 'current', blockId: 't6' });
  expect(states.get('block:p6')).toMatchObject({ state: 'new', blockId: null, proposalId: null });
});

// contract.md T69 and T72
it('what cannot be attached or detached is refused by its reason, and nothing of it changes', async () => {
  const { projectId, source, own } = await two();
  const make = (article: Parameters<typeof createArticle>[3], project = projectId) =>
    createArticle(service.db, workspace, project, { document: OWN, language: 'es', ...article });
  const elsewhere = await make({}, await service.project(workspace));
  const empty = await make({ document: { version: 1, blocks: [] } });
  const published = await make({ status: 'PUBLISHED' });
  const queued = await make({ status: 'QUEUED' });
  const english = await make({ language: 'en' });
  const german = await make({ language: 'de' });
  const generated = await make({});
  // Its end passes the turn on, and the job below has nothing to be run with.
  const pair = await translated();
  const { openJob } = editing(service, workspace);
  await openJob(await read(generated.id));
  const unknown = '00000000-0000-4000-8000-000000000000';
  const before = await storedOf(own.id);
  for (const dryRun of [true, false]) {
    const refusals = [
      [source.id, source.id, 400, '/articleId'],
      [source.id, elsewhere.id, 400, '/articleId'],
      [empty.id, german.id, 400, ''],
      [source.id, unknown, 404, 'RESOURCE_NOT_FOUND'],
      [unknown, own.id, 404, 'RESOURCE_NOT_FOUND'],
      [source.id, published.id, 409, 'status'],
      [source.id, queued.id, 409, 'job_running'],
      [source.id, generated.id, 409, 'job_running'],
      [source.id, english.id, 409, 'translation_exists'],
    ] as const;
    for (const [to, what, status, reason] of refusals) {
      expect([what, ...reasonOf(await attach(to, what, dryRun))]).toEqual([what, status, reason]);
    }
  }
  expect((await attach(source.id, own.id)).status).toBe(200);
  const third = await make({});
  expect(reasonOf(await attach(source.id, third.id))).toEqual([409, 'translation_exists']);
  for (const member of [source.id, own.id]) {
    expect(reasonOf(await attach(german.id, member))).toEqual([409, 'has_versions']);
  }
  expect(reasonOf(await detach(source.id))).toEqual([409, 'has_versions']);
  expect(reasonOf(await detach(queued.id))).toEqual([409, 'job_running']);
  expect(reasonOf(await detach(published.id))).toEqual([409, 'status']);
  const [row] = before[0] as { slug: string; status: string }[];
  expect(await read(own.id)).toMatchObject({ slug: row?.slug, status: row?.status });

  // What a translation wrote can be detached as well, unless it is being refreshed.
  await save(pair.source.id, OWN);
  const go = hold();
  const { job } = await refresh(pair.version.id);
  expect(reasonOf(await detach(pair.version.id))).toEqual([409, 'refresh_running']);
  go();
  await calls.untilFinal(workspace, job.id);
  expect((await detach(pair.version.id)).status).toBe(200);
  expect(reasonOf(await call('POST', `${pair.version.id}/refresh`))).toEqual([409, 'source_gone']);
});

// contract.md T68 and T73
it('a link in an attached article leads to its own language, and no longer once it is detached', async () => {
  const editor = editing(service, workspace);
  const { projectId, source, own } = await two();
  await editor.call('PATCH', `/api/projects/${projectId}`, {
    addressTemplate: 'https://example.com/{language}/{slug}',
  });
  const named = await editor.published(projectId, { title: 'Named' });
  const sibling = await editor.create(projectId, { title: 'Hermano', primaryLanguage: 'es' });
  expect((await attach(named.id, sibling.id)).status).toBe(200);
  await moveTo(sibling.id, 'APPROVED');
  expect((await editor.publish(sibling.id)).status).toBe(200);
  const text = 'Aquí hay algo';
  await editor.patch(own.id, {
    documentJson: documentOf({ ...paragraph(text), links: [{ text, articleId: named.id }] }),
  });
  const shown = async () => /href="([^"]+)"/.exec((await read(own.id)).contentHtml ?? '')?.[1];
  await checkAllLinks(service.db);
  expect(await shown()).toBe('https://example.com/en/named');
  const toldOf = async () =>
    (
      await service.db
        .selectFrom('article_links')
        .select('address')
        .where('article_id', '=', own.id)
        .executeTakeFirstOrThrow()
    ).address;
  expect((await attach(source.id, own.id)).status).toBe(200);
  expect(await shown()).toBe('https://example.com/es/hermano');
  await checkAllLinks(service.db);
  expect(await toldOf()).toBe('https://example.com/es/hermano');
  expect((await detach(own.id)).status).toBe(200);
  await checkAllLinks(service.db);
  expect([await shown(), await toldOf()]).toEqual(new Array(2).fill('https://example.com/en/named'));
});

/** Sends both while the article is locked, in this order, and lets them go. */
async function inTurn(
  locked: string,
  ...requests: (() => ReturnType<typeof call>)[]
): Promise<(readonly unknown[])[]> {
  const sent: ReturnType<typeof call>[] = [];
  await whileLocked(service.db, locked, async () => {
    for (const request of requests) {
      sent.push(request());
      await untilWaiting(service.db, sent.length);
    }
  });
  return (await Promise.all(sent)).map((response) =>
    response.status < 300 ? [response.status] : reasonOf(response),
  );
}

// contract.md T73
it('of two attachments, or one and a translation, at one moment one is made', async () => {
  const { projectId, source, own } = await two();
  const other = (await two(OWN, projectId)).own;
  const results = await inTurn(
    source.id,
    () => attach(source.id, own.id),
    () => attach(source.id, other.id),
  );
  expect(results.sort()).toEqual([[200], [409, 'translation_exists']]);

  const crossed = await two();
  const both = await inTurn(
    crossed.own.id,
    () => attach(crossed.source.id, crossed.own.id),
    () => attach(crossed.own.id, crossed.source.id),
  );
  expect(both.sort()).toEqual([[200], [409, 'has_versions']]);

  const third = await two();
  const made = await inTurn(
    third.own.id,
    () => attach(third.source.id, third.own.id),
    () => call('POST', `${third.own.id}/translations`, { language: 'de' }),
  );
  expect(made).toEqual([[200], [202]]);
  const group = (await listed(third.source.id)).map(
    ({ article }: { article: { primaryLanguage: string } }) => article.primaryLanguage,
  );
  expect(group).toEqual(['de', 'en', 'es']);
});

// contract.md T73
it('what was saved, published or deleted a moment before counts: the pairs are those of what stands there then', async () => {
  const saved = await two();
  const shorter = { version: 1 as const, blocks: OWN.blocks.slice(2) };
  const results = await inTurn(
    saved.own.id,
    () => call('PATCH', saved.own.id, { documentJson: shorter }),
    () => attach(saved.source.id, saved.own.id),
  );
  expect(results).toEqual([[200], [200]]);
  const units = (await stateOf(saved.own.id)).units.filter(({ blockId }) => blockId !== null);
  expect(units.map(({ blockId }) => blockId)).toEqual(shorter.blocks.map(({ id }) => id));

  const published = await two();
  await moveTo(published.own.id, 'APPROVED');
  expect(
    await inTurn(
      published.own.id,
      () => call('POST', `${published.own.id}/publish`),
      () => attach(published.source.id, published.own.id),
    ),
  ).toEqual([[200], [409, 'status']]);

  const deleted = await two();
  expect(
    await inTurn(
      deleted.source.id,
      () => call('DELETE', deleted.source.id),
      () => attach(deleted.source.id, deleted.own.id),
    ),
  ).toEqual([[200], [404, 'RESOURCE_NOT_FOUND']]);
  expect((await stateOf(deleted.own.id)).tracking).toBe('unmanaged');
});

// contract.md T73
it('a refresh and a detachment at one moment exclude each other: none writes into what is no version any more', async () => {
  const first = await two();
  await attach(first.source.id, first.own.id);
  expect(
    await inTurn(
      first.own.id,
      () => detach(first.own.id),
      () => call('POST', `${first.own.id}/refresh`),
    ),
  ).toEqual([[200], [409, 'source_gone']]);
  const second = await two();
  await attach(second.source.id, second.own.id);
  const go = hold();
  expect(
    await inTurn(
      second.own.id,
      () => call('POST', `${second.own.id}/refresh`),
      () => detach(second.own.id),
    ),
  ).toEqual([[202], [409, 'refresh_running']]);
  go();
});

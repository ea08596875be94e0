import { describe, expect, it } from 'vitest';
import { createApiKey } from '../../src/api-keys/create.ts';
import type { Article } from '../../src/articles/schemas.ts';
import type { ArticleStatus } from '../../src/db/tables.ts';
import type { DocumentJson } from '../../src/document/format/schema.ts';
import type { ArticleId } from '../../src/ids.ts';
import type { Job } from '../../src/jobs/schemas.ts';
import type { Permission } from '../../src/permissions.ts';
import { pseudoLocalize as pseudo } from '../../src/providers/pseudo.ts';
import { ProviderError } from '../../src/providers/types.ts';
import { createRole } from '../../src/roles/create.ts';
import { settleRefresh } from '../../src/translations/refresh/settle.ts';
import { createArticle } from '../support/articles.ts';
import { listenToAll } from '../support/events.ts';
import { hang, useTranslations } from '../support/translating.ts';
import { eventually } from '../support/wait.ts';
import { addAsset, usedBytes } from './support/images.ts';
import { untilWaiting, whileLocked } from './support/locks.ts';

const { service, provider, workspace, calls } = useTranslations({ credits: 100 });

const call = (method: string, path: string, body?: unknown, key = workspace.key) =>
  service.call(key, method, `/api/articles/${path}`, body);

const paragraph = (id: string, text: string) => ({ id, type: 'paragraph' as const, text });
const SOURCE: DocumentJson = {
  version: 1,
  blocks: Array.from({ length: 8 }, (_, index) =>
    paragraph(`p${index}`, `The text of number ${index} here.`),
  ),
};

/** The document with some of its texts replaced. */
const withTexts = (document: DocumentJson, texts: Record<string, string>): DocumentJson => ({
  version: 1,
  blocks: document.blocks.map((block) => ({
    ...block,
    ...(texts[block.id] ? { text: texts[block.id] } : {}),
  })) as DocumentJson['blocks'],
});
const textOf = ({ documentJson }: Pick<Article, 'documentJson'>, id: string): string | undefined => {
  const block = documentJson.blocks.find((each) => each.id === id);
  return block !== undefined && 'text' in block ? block.text : undefined;
};

/** A source and its finished translation. */
async function translated(document = SOURCE) {
  const source = await createArticle(service.db, workspace, await service.project(workspace), { document });
  const { article: version } = await calls.translateTo(workspace, source.id);
  return { source, version };
}
const save = async (articleId: string, documentJson: DocumentJson) =>
  expect((await call('PATCH', articleId, { documentJson })).status).toBe(200);
const refresh = async (articleId: string, body?: unknown) => {
  const response = await call('POST', `${articleId}/refresh`, body);
  expect(response.status, JSON.stringify(response.body)).toBe(202);
  return response.body as { job: Job; estimate: Record<string, number> };
};
const refreshTo = async (articleId: string, body?: unknown) => {
  const { job, estimate } = await refresh(articleId, body);
  return { job: await calls.untilFinal(workspace, job.id), estimate };
};
const read = (articleId: string) => calls.readArticle(workspace, articleId);
const proposals = async (articleId: string) => (await call('GET', `${articleId}/proposals`)).body.proposals;
const wallet = () => calls.readWallet(workspace);
async function moveTo(articleId: string, status: ArticleStatus): Promise<void> {
  await service.db
    .updateTable('articles')
    .set({ status })
    .where('id', '=', articleId as ArticleId)
    .execute();
}

const decide = (articleId: string, id: string, decision: 'accept' | 'reject') =>
  call('POST', `${articleId}/proposals/${id}/${decision}`);

/** Lets no engine answer until the returned function is called. */
function hold(): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  provider.behave = () => promise;
  return resolve;
}

/** The data of the article.updated events of an article, oldest first. */
async function updatesOf(articleId: string): Promise<unknown[]> {
  const rows = await service.db
    .selectFrom('events')
    .select('body')
    .where('article_id', '=', articleId)
    .where('type', '=', 'article.updated')
    .orderBy('id')
    .execute();
  return rows.map(({ body }) => JSON.parse(body.toString()).data);
}

/** An image of 700 bytes of the article, whose bytes are stored. */
async function addImage(articleId: ArticleId, role: 'hero' | 'inline') {
  await service.db
    .insertInto('blobs')
    .values({ hash: (role === 'hero' ? 'a' : 'b').repeat(64), size: 700 })
    .onConflict((on) => on.doNothing())
    .execute();
  return addAsset(service, workspace, articleId, role, 700);
}
const limit = (bytes: number) =>
  service.db
    .updateTable('workspaces')
    .set({ storage_bytes_limit: bytes })
    .where('id', '=', workspace.id)
    .execute();

describe('a refresh', () => {
  it('tells what changed and its price, translates only that, writes what nobody edited and proposes the rest', async () => {
    const { source, version } = await translated();
    await save(version.id, withTexts(version.documentJson, { p2: 'Una persona lo escribió.' }));
    await save(source.id, withTexts(SOURCE, { p1: 'A new first text.', p2: 'A new second text.' }));
    const before = await wallet();

    const estimated = await call('GET', `${version.id}/refresh/estimate`);
    expect(estimated.body).toMatchObject({
      estimate: { blocks: 8, changedBlocks: 2, changedFields: 0, changedImages: 0, words: 8, total: 1 },
      sufficient: true,
    });
    let asked = 0;
    provider.behave = async () => {
      asked += 1;
    };
    const { job } = await refreshTo(version.id);
    expect(job).toMatchObject({
      kind: 'translation',
      status: 'COMPLETED',
      articleId: version.id,
      consumedCredits: 1,
    });
    expect(asked).toBe(1);
    expect(await wallet()).toMatchObject({ balance: before.balance - 1, reserved: 0 });

    const after = await read(version.id);
    expect(textOf(after, 'p1')).toBe(pseudo('A new first text.'));
    expect(textOf(after, 'p2')).toBe('Una persona lo escribió.');
    const unchanged = after.documentJson.blocks.filter(({ id }) => !['p1', 'p2'].includes(id));
    expect(unchanged).toEqual(version.documentJson.blocks.filter(({ id }) => !['p1', 'p2'].includes(id)));
    expect(after).toMatchObject({ slug: version.slug, status: 'NEEDS_REVIEW' });
    expect(await proposals(version.id)).toMatchObject([
      { unit: 'block:p2', action: 'replace', reason: 'edited', jobId: job.id, articleId: version.id },
    ]);
    expect((await call('POST', `${version.id}/refresh`)).body).toMatchObject({
      status: 409,
      details: { reason: 'up_to_date' },
    });
  });

  it('of a PUBLISHED version proposes all, unless a key that may publish asks otherwise: that is a save with its event', async () => {
    const { source, version } = await translated();
    await moveTo(version.id, 'PUBLISHED');
    await listenToAll(service.db, workspace.id);
    await save(source.id, withTexts(SOURCE, { p1: 'A new first text.' }));
    const permissions: Permission[] = ['articles.read', 'articles.update', 'articles.generate'];
    const { id: roleId } = await createRole(workspace.context, { name: 'Refresher', permissions });
    const { key } = await createApiKey(workspace.context, { label: 'x', roleId });
    const refused = await call('POST', `${version.id}/refresh`, { apply: 'untouched' }, key);
    expect(refused.body).toMatchObject({ status: 403, details: { permissions: ['articles.publish'] } });

    const before = await read(version.id);
    expect((await refreshTo(version.id)).job.consumedCredits).toBe(1);
    expect(await read(version.id)).toEqual(before);
    expect(await proposals(version.id)).toMatchObject([{ unit: 'block:p1', reason: 'asked' }]);
    expect(await updatesOf(version.id)).toEqual([]);

    await save(source.id, withTexts(SOURCE, { p1: 'A newer first text.' }));
    await refreshTo(version.id, { apply: 'untouched' });
    expect(textOf(await read(version.id), 'p1')).toBe(pseudo('A newer first text.'));
    expect(await proposals(version.id)).toEqual([]);
    expect(await updatesOf(version.id)).toMatchObject([{ changed: ['content'], status: 'PUBLISHED' }]);
    const { body } = await service.call(workspace.key, 'GET', `/api/workspaces/${workspace.id}/audit`);
    const actions = body.entries.map(({ action }: { action: string }) => action);
    expect(actions.slice(0, 3)).toEqual([
      'translations.refreshed',
      'articles.updated',
      'translations.refresh_requested',
    ]);
  });

  it('is one at a time a version, replays its key, and has nothing to work from once its source is gone', async () => {
    const { source, version } = await translated();
    await save(source.id, withTexts(SOURCE, { p1: 'A new first text.' }));
    provider.behave = hang;
    const key = `key-${version.id}`;
    const { job } = await refresh(version.id, { idempotencyKey: key });
    expect((await call('POST', `${version.id}/refresh`)).body).toMatchObject({
      detail: expect.stringMatching(/Wait for it to end, or cancel it/),
      details: { reason: 'refresh_running' },
    });
    const replayed = await call('POST', `${version.id}/refresh`, { idempotencyKey: key });
    expect(replayed).toMatchObject({
      status: 200,
      body: { job: { id: job.id }, estimate: null, reused: true },
    });
    expect((await calls.cancel(workspace, job.id)).status).toBe(202);
    expect((await call('POST', `${version.id}/refresh`, { blocks: ['p1', 'nowhere'] })).body).toMatchObject({
      status: 400,
      errors: [{ pointer: '/blocks/1' }],
    });
    expect((await call('DELETE', source.id)).status).toBe(200);
    for (const id of [version.id, source.id]) {
      const { body } = await call('GET', `${id}/refresh/estimate`);
      if (id === version.id) expect(body).toMatchObject({ status: 409, details: { reason: 'source_gone' } });
      else expect(body.status).toBe(404);
    }
  });

  it('that is asked for many times at one moment is admitted once, and so is what is repeated with one key', async () => {
    const { source, version } = await translated();
    await save(source.id, withTexts(SOURCE, { p1: 'A new first text.' }));
    provider.behave = hang;
    const ask = (body?: unknown) =>
      Promise.all(Array.from({ length: 6 }, () => call('POST', `${version.id}/refresh`, body)));
    const answers = await ask();
    const [job] = answers.flatMap(({ body }) => body.job ?? []);
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409, 409, 409, 409, 409]);
    const refused = answers.filter(({ status }) => status === 409);
    expect(new Set(refused.map(({ body }) => body.details.reason))).toEqual(new Set(['refresh_running']));
    await calls.cancel(workspace, job.id);

    const repeated = await ask({ idempotencyKey: `key-${version.id}` });
    expect(repeated.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 202]);
    expect(new Set(repeated.map(({ body }) => body.job.id)).size).toBe(1);
    expect(await wallet()).toMatchObject({ reserved: 1 });
    const [asked, deleted] = await Promise.all([
      call('GET', `${version.id}/refresh/estimate`),
      call('DELETE', version.id),
    ]);
    expect([200, 404]).toContain(asked.status);
    expect(deleted.status).toBe(200);
    expect(await wallet()).toMatchObject({ reserved: 0 });
  });

  it('is admitted once, however many ask at one moment, and planned anew when another has ended meanwhile', async () => {
    const { source, version } = await translated();
    await save(source.id, withTexts(SOURCE, { p1: 'A new first text.' }));
    const ask = (count: number, body?: unknown) =>
      Promise.all(Array.from({ length: count }, () => call('POST', `${version.id}/refresh`, body)));
    const before = await wallet();
    let asking: ReturnType<typeof call> | undefined;
    let go = hold();
    const keyed = await ask(4, { idempotencyKey: `key-${version.id}` });
    expect(keyed.map(({ status }) => status).sort()).toEqual([200, 200, 200, 202]);
    expect(new Set(keyed.map(({ body }) => body.job.id)).size).toBe(1);
    expect(await wallet()).toMatchObject({ reserved: 1 });
    await whileLocked(service.db, source.id, async () => {
      const late = call('POST', `${version.id}/refresh`);
      await untilWaiting(service.db, 1);
      go();
      await calls.untilFinal(workspace, keyed[0]?.body.job.id);
      asking = late;
    });
    expect((await asking)?.body.details).toEqual({ reason: 'up_to_date' });

    await save(source.id, withTexts(SOURCE, { p1: 'A newer first text.' }));
    go = hold();
    const keyless = await ask(4);
    expect(keyless.map(({ status }) => status).sort()).toEqual([202, 409, 409, 409]);
    go();
    const { job } = keyless.find(({ status }) => status === 202)?.body ?? {};
    await calls.untilFinal(workspace, job.id);
    expect(await settleRefresh(service.db, job.id)).toBe(false);
    expect(await wallet()).toMatchObject({ balance: before.balance - 2, reserved: 0 });
  });

  it('takes part in nothing while it runs: its version is saved, published, unpublished and deleted, which gives back what it held', async () => {
    const { source, version } = await translated();
    const bytes = await usedBytes(service, workspace);
    await addAsset(service, workspace, source.id, 'hero', 600);
    await save(source.id, withTexts(SOURCE, { p1: 'A new first text.', p3: 'A new third text.' }));
    const before = await wallet();
    provider.behave = hang;
    const { job } = await refresh(version.id);
    expect(await usedBytes(service, workspace)).toBe(bytes + 1_200);
    await eventually(
      () => calls.readJob(workspace, job.id),
      ({ status }) => status === 'TRANSLATING',
    );
    await save(version.id, withTexts(version.documentJson, { p1: 'Una persona.' }));
    const review = { decision: 'approved' };
    expect((await call('POST', `${version.id}/reviews`, review)).status).toBe(201);
    for (const move of ['publish', 'unpublish']) {
      expect((await call('POST', `${version.id}/${move}`)).status).toBe(200);
    }
    expect((await call('DELETE', version.id)).status).toBe(200);
    expect(await wallet()).toEqual(before);
    expect(await usedBytes(service, workspace)).toBe(bytes + 600);
  });

  it('leaves what a person saved meanwhile, and proposes all for a version that was approved meanwhile', async () => {
    const { source, version } = await translated();
    await save(source.id, withTexts(SOURCE, { p1: 'A new first text.', p2: 'A new second text.' }));
    let go = hold();
    await refresh(version.id);
    await save(version.id, withTexts(version.documentJson, { p1: 'Una persona.' }));
    go();
    const [proposal] = await eventually(
      () => proposals(version.id),
      (list) => list.length > 0,
    );
    expect(proposal).toMatchObject({ unit: 'block:p1', reason: 'saved' });
    const after = await read(version.id);
    expect([textOf(after, 'p1'), textOf(after, 'p2')]).toEqual([
      'Una persona.',
      pseudo('A new second text.'),
    ]);

    const others = [
      ['APPROVED', 'p4'],
      ['PROCESSING', 'p5'],
    ] as const;
    for (const [status, block] of others) {
      await save(source.id, withTexts(SOURCE, { [block]: 'A text for nobody yet.' }));
      go = hold();
      const { job } = await refresh(version.id);
      await service.db.transaction().execute(async (tx) => {
        await tx
          .updateTable('articles')
          .set({ status })
          .where('id', '=', version.id as ArticleId)
          .execute();
        go();
        // What it writes is worked out by then, for the version as it was.
        await untilWaiting(service.db, 1);
      });
      await calls.untilFinal(workspace, job.id);
      expect((await read(version.id)).documentJson).toEqual(after.documentJson);
      expect((await proposals(version.id)).map(({ unit }: { unit: string }) => unit)).toContain(
        `block:${block}`,
      );
      await moveTo(version.id, 'NEEDS_REVIEW');
    }
  });

  it('charges what it delivered: what was made for a block that a person decided about meanwhile is free', async () => {
    const { source, version } = await translated();
    const long = 'word '.repeat(1_100).trim();
    await save(source.id, withTexts(SOURCE, { p1: `First ${long}.`, p2: `Second ${long}.` }));
    expect((await refreshTo(version.id, { apply: 'none' })).job.consumedCredits).toBe(3);
    const [, second] = await proposals(version.id);
    const go = hold();
    const { job, estimate } = await refresh(version.id, { apply: 'none', blocks: ['p1', 'p2'] });
    expect(estimate).toMatchObject({ changedBlocks: 2, total: 3 });
    expect((await decide(version.id, second.id, 'reject')).status).toBe(200);
    go();
    const ended = await calls.untilFinal(workspace, job.id);
    expect(ended).toMatchObject({ reservedCredits: 3, consumedCredits: 2 });
    expect((await wallet()).reserved).toBe(0);
    expect(await proposals(version.id)).toMatchObject([{ unit: 'block:p1', jobId: job.id }]);
  });

  it('that fails or is cancelled writes nothing of the article and costs nothing', async () => {
    const { source, version } = await translated();
    await save(source.id, withTexts(SOURCE, { p1: 'A new first text.' }));
    const before = { article: await read(version.id), wallet: await wallet() };
    provider.behave = async () => {
      throw new ProviderError('fatal', 'The engine does not know this language pair.');
    };
    expect((await refreshTo(version.id)).job).toMatchObject({
      status: 'FAILED',
      errorCode: 'TRANSLATION_FAILED',
      errorMessage: 'The engine does not know this language pair.',
      consumedCredits: 0,
    });
    provider.behave = hang;
    const { job } = await refresh(version.id);
    await calls.cancel(workspace, job.id);
    expect({ article: await read(version.id), wallet: await wallet() }).toEqual(before);
    expect(await proposals(version.id)).toEqual([]);
  });

  it('copies new images and takes untouched ones away, within the storage quota', async () => {
    const { source, version } = await translated();
    const start = await usedBytes(service, workspace);
    const assetId = await addImage(source.id, 'inline');
    const image = { id: 'image', type: 'image' as const, assetId, altText: 'Six beds' };
    await save(source.id, { version: 1, blocks: [...SOURCE.blocks, image] });
    await limit(start + 1_399);
    expect((await call('POST', `${version.id}/refresh`)).body).toMatchObject({
      status: 429,
      code: 'QUOTA_EXCEEDED',
    });
    await limit(start + 1_400);
    await refreshTo(version.id);
    const shown = (await read(version.id)).documentJson.blocks.at(-1);
    expect(shown).toMatchObject({ id: 'image', altText: pseudo('Six beds') });
    expect(shown?.type === 'image' && shown.assetId).not.toBe(assetId);
    expect((await read(version.id)).contentHtml).toContain('<img');
    expect(await usedBytes(service, workspace)).toBe(start + 1_400);

    await save(source.id, SOURCE);
    expect((await call('DELETE', `${source.id}/assets/${assetId}`)).status).toBe(200);
    expect((await refreshTo(version.id)).job.consumedCredits).toBe(0);
    expect((await read(version.id)).documentJson).toEqual(version.documentJson);
    expect(await usedBytes(service, workspace)).toBe(start);
  });

  it('of a version without provenance only proposes', async () => {
    const { source, version } = await translated();
    await service.db
      .deleteFrom('article_provenance')
      .where('article_id', '=', version.id as ArticleId)
      .execute();
    const { estimate } = await refreshTo(version.id);
    expect(estimate.changedBlocks).toBe(8);
    expect(await read(version.id)).toEqual(version);
    const list = await proposals(version.id);
    expect(list.map(({ unit }: { unit: string }) => unit)).toEqual([
      'title',
      ...source.document.blocks.map(({ id }) => `block:${id}`),
    ]);
  });
});

describe('a proposal', () => {
  it('of a cover takes its bytes when it is accepted, 429 when they do not fit, and gives them back with it', async () => {
    const { source, version } = await translated();
    const hero = await addImage(source.id, 'hero');
    const start = await usedBytes(service, workspace);
    await refreshTo(version.id, { apply: 'none' });
    const [cover] = await proposals(version.id);
    expect(cover).toMatchObject({ action: 'insert', reason: 'asked' });
    await limit(start + 699);
    expect((await decide(version.id, cover.id, 'accept')).body).toMatchObject({ code: 'QUOTA_EXCEEDED' });
    expect(await usedBytes(service, workspace)).toBe(start);
    await limit(start + 700);
    expect((await decide(version.id, cover.id, 'accept')).status).toBe(200);
    expect(await usedBytes(service, workspace)).toBe(start + 700);

    expect((await call('DELETE', `${source.id}/assets/${hero}`)).status).toBe(200);
    await refreshTo(version.id, { apply: 'none' });
    const [removal] = await proposals(version.id);
    expect((await decide(version.id, removal.id, 'accept')).status).toBe(200);
    expect(await usedBytes(service, workspace)).toBe(start - 700);
    await limit(1_000_000_000);
  });

  /** A version with a proposal for p1, which a person has edited. */
  async function proposed() {
    const { source, version } = await translated();
    const edited = withTexts(version.documentJson, { p1: 'Una persona lo escribió.' });
    await save(version.id, edited);
    await save(source.id, withTexts(SOURCE, { p1: 'A new first text.' }));
    await refreshTo(version.id);
    const [proposal] = await proposals(version.id);
    return { source, version, edited, proposal };
  }

  it('that is accepted is a save; once what it would change has changed it is 412', async () => {
    const { source, version, edited, proposal } = await proposed();
    expect(proposal.value).toMatchObject({ type: 'block', block: { text: pseudo('A new first text.') } });
    await save(version.id, withTexts(edited, { p1: 'Otra persona.' }));
    expect((await decide(version.id, proposal.id, 'accept')).status).toBe(412);
    await save(version.id, withTexts(edited, { p2: 'Aquí nadie propone nada.' }));
    await moveTo(version.id, 'PUBLISHED');
    await listenToAll(service.db, workspace.id);

    const accepted = await decide(version.id, proposal.id, 'accept');
    expect(accepted.status).toBe(200);
    expect(accepted.body.article).toEqual(await read(version.id));
    expect(textOf(accepted.body.article, 'p1')).toBe(pseudo('A new first text.'));
    expect(textOf(accepted.body.article, 'p2')).toBe('Aquí nadie propone nada.');
    expect(accepted.body.article.contentHtml).toContain(pseudo('A new first text.'));
    expect(await updatesOf(version.id)).toMatchObject([{ changed: ['content'] }]);
    expect((await decide(version.id, proposal.id, 'accept')).body).toMatchObject({
      status: 404,
      detail: expect.stringMatching(/accepted, rejected or replaced/),
    });
    expect((await call('GET', `${version.id}/refresh/estimate`)).body.estimate.changedBlocks).toBe(0);
    expect((await call('GET', `${source.id}/proposals`)).body).toEqual({ proposals: [], nextCursor: null });
  });

  it('that is accepted, accepted and rejected at one moment is decided about once', async () => {
    const { version, proposal } = await proposed();
    const decisions = ['accept', 'accept', 'reject', 'reject'] as const;
    const answers = await Promise.all(decisions.map((decision) => decide(version.id, proposal.id, decision)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404]);
    const accepted = answers.slice(0, 2).some(({ status }) => status === 200);
    const text = accepted ? pseudo('A new first text.') : 'Una persona lo escribió.';
    expect(textOf(await read(version.id), 'p1')).toBe(text);
    expect((await call('POST', `${version.id}/refresh`)).body.details).toEqual({ reason: 'up_to_date' });
  });

  it('is decided once, for the version as it is at that moment, and not while a job owns it', async () => {
    const { source, version } = await translated();
    const blocks = ['p1', 'p2', 'p3', 'p4'];
    const texts = (text: string) => Object.fromEntries(blocks.map((id) => [id, text]));
    const edited = withTexts(version.documentJson, texts('Una persona lo escribió.'));
    await save(version.id, edited);
    await save(source.id, withTexts(SOURCE, texts('A new text.')));
    await refreshTo(version.id);
    const [p1, p2, p3, p4] = (await proposals(version.id)).map(({ id }: { id: string }) => id);
    await moveTo(version.id, 'PROCESSING');
    for (const decision of ['accept', 'reject'] as const) {
      const { body } = await decide(version.id, p1, decision);
      expect(body).toMatchObject({ status: 409, details: { reason: 'job_running' } });
    }
    await moveTo(version.id, 'NEEDS_REVIEW');

    const atOnce = [
      [p1, 'reject'],
      [p1, 'accept'],
      [p2, 'reject'],
      [p3, 'accept'],
    ] as const;
    let deciding: ReturnType<typeof decide>[] = [];
    await whileLocked(service.db, version.id, async () => {
      deciding = atOnce.map(([id, decision]) => decide(version.id, id, decision));
      await untilWaiting(service.db, atOnce.length);
    });
    const statuses = (await Promise.all(deciding)).map(({ status }) => status);
    expect(statuses.slice(0, 2).sort()).toEqual([200, 404]);
    expect(statuses.slice(2)).toEqual([200, 200]);
    expect(textOf(await read(version.id), 'p3')).toBe(pseudo('A new text.'));

    let late: ReturnType<typeof decide> | undefined;
    const saved = withTexts((await read(version.id)).documentJson, { p4: 'Otra persona.' });
    await service.db.transaction().execute(async (tx) => {
      await tx
        .updateTable('articles')
        .set({ document: JSON.stringify(saved) })
        .where('id', '=', version.id as ArticleId)
        .execute();
      late = decide(version.id, p4, 'accept');
      await untilWaiting(service.db, 1);
    });
    expect((await late)?.status).toBe(412);
    expect(textOf(await read(version.id), 'p4')).toBe('Otra persona.');
    expect((await decide(version.id, p4, 'reject')).status).toBe(200);
    expect((await call('POST', `${version.id}/refresh`)).body.details).toEqual({ reason: 'up_to_date' });
  });

  it('that is rejected leaves the article as it is, up to date with that source', async () => {
    const { source, version, proposal } = await proposed();
    const before = await read(version.id);
    expect((await decide(version.id, proposal.id, 'reject')).body).toEqual({ ok: true });
    expect(await read(version.id)).toEqual(before);
    expect(await proposals(version.id)).toEqual([]);
    expect((await call('POST', `${version.id}/refresh`)).body.details).toEqual({ reason: 'up_to_date' });
    await save(source.id, withTexts(SOURCE, { p1: 'A newer first text.' }));
    expect((await call('GET', `${version.id}/refresh/estimate`)).body.estimate.changedBlocks).toBe(1);
  });

  it('is the only one of its block, is not bought again, and gives way to that of a newer source', async () => {
    const { source, version, proposal } = await proposed();
    let asked = 0;
    provider.behave = async () => {
      asked += 1;
    };
    expect((await call('POST', `${version.id}/refresh`)).body.details).toEqual({ reason: 'up_to_date' });
    await save(source.id, withTexts(SOURCE, { p1: 'A new first text.', p5: 'A new fifth text.' }));
    await refreshTo(version.id);
    expect(await proposals(version.id)).toEqual([proposal]);
    expect(asked).toBe(1);
    await save(source.id, withTexts(SOURCE, { p1: 'A newer first text.', p5: 'A new fifth text.' }));
    await refreshTo(version.id);
    expect(await proposals(version.id)).toMatchObject([
      { unit: 'block:p1', value: { block: { text: pseudo('A newer first text.') } } },
    ]);
    expect(asked).toBe(2);
    await call('DELETE', version.id);
    const left = await service.db
      .selectFrom('proposals')
      .select('id')
      .where('id', '=', proposal.id)
      .execute();
    expect(left).toEqual([]);
  });
});

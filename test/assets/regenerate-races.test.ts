import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Asset } from '../../src/assets/schemas.ts';
import { documentOf, editing, paragraph } from '../articles/support.ts';
import { image, picture, useDrawing } from '../support/drawing.ts';
import { eventually } from '../support/wait.ts';
import { untilWaiting, whileLocked } from '../translations/support/locks.ts';

const { service, workspace, calls, model } = useDrawing();
const editor = () => editing(service, workspace);

// The first image takes longer: the process that decodes it has to start, and no lock is held meanwhile.
beforeAll(async () => {
  const first = await service.workspace();
  const { asset } = await calls.illustrated(first);
  await calls.regenerateTo(first, asset);
});

/** A job whose model waits for `go`. */
async function underWay(asset: Asset) {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  model.behave = () => promise;
  const job = await calls.regenerate(workspace, asset);
  await eventually(
    async () => model.requests.length,
    (count) => count > 0,
  );
  return { job, go: () => resolve(undefined) };
}

/** What was paid, what is held, and whether the quota is that of the images there are. */
async function settled() {
  const { rows } = await sql<{ bytes: number }>`
    SELECT coalesce(sum(byte_size + variant_bytes), 0)::float8 AS bytes FROM assets WHERE workspace_id = ${workspace.id}`.execute(
    service.db,
  );
  expect(await editor().storageUsed()).toBe(rows[0]?.bytes);
  const { balance, reserved } = await calls.readWallet(workspace);
  expect(reserved).toBe(0);
  return 20 - balance;
}

const reported = async (articleId: string) =>
  (await editor().events(articleId))
    .filter(({ event }) => event === 'image.regenerated')
    .map(({ data }) => data);

/** Holds the article until `first` and then `second` wait for it. */
async function inLine(articleId: string, first: () => unknown, second: () => unknown): Promise<void> {
  await whileLocked(service.db, articleId, async () => {
    first();
    await untilWaiting(service.db, 1);
    second();
    await untilWaiting(service.db, 2);
  });
}

// contract.md G118
describe('a person and a settlement at one moment', () => {
  it.each(['the person first', 'the settlement first'])('deletes the image: %s', async (order) => {
    const { article, asset } = await calls.illustrated(workspace, 'published');
    const { job, go } = await underWay(asset);
    let deleted: Promise<{ status: number }> | undefined;
    const remove = () => {
      deleted = service.call(workspace.key, 'DELETE', `/api/articles/${article.id}/assets/${asset.id}`);
    };
    await (order === 'the person first' ? inLine(article.id, remove, go) : inLine(article.id, go, remove));
    expect((await deleted)?.status).toBe(200);
    const { status } = await calls.untilFinal(workspace, job.id);
    const isSettled = order !== 'the person first';
    expect(status).toBe(isSettled ? 'COMPLETED' : 'FAILED');
    expect(await settled()).toBe(isSettled ? 1 : 0);
    expect(await reported(article.id)).toHaveLength(isSettled ? 1 : 0);
  });

  it.each(['the person first', 'the settlement first'])('replaces the cover: %s', async (order) => {
    const { id } = await editor().published(await service.project(workspace));
    const hero = `/api/articles/${id}/hero`;
    const cover: Asset = (await editor().upload('PUT', hero, await picture(7))).body.asset;
    const { job, go } = await underWay(cover);
    let replaced: Promise<{ status: number; body: { asset: Asset } }> | undefined;
    const bytes = await picture(9);
    const replace = () => {
      replaced = editor().upload('PUT', hero, bytes);
    };
    await (order === 'the person first' ? inLine(id, replace, go) : inLine(id, go, replace));
    const own = (await replaced)?.body.asset;
    const { status } = await calls.untilFinal(workspace, job.id);
    expect(await settled()).toBe(status === 'COMPLETED' ? 1 : 0);
    const { assets } = (await service.call(workspace.key, 'GET', `/api/articles/${id}/assets`)).body;
    expect(assets).toEqual([own]);
    const events = await reported(id);
    expect(events).toEqual([
      ...(status === 'COMPLETED' ? [{ articleId: id, assetId: cover.id }] : []),
      { articleId: id, assetId: own?.id, type: 'hero' },
    ]);
  });

  it.each(['the person first', 'the settlement first'])('cancels the job: %s', async (order) => {
    const { article, asset } = await calls.illustrated(workspace);
    const { job, go } = await underWay(asset);
    let cancelled: Promise<{ status: number }> | undefined;
    const cancel = () => {
      cancelled = calls.cancel(workspace, job.id);
    };
    await (order === 'the person first' ? inLine(article.id, cancel, go) : inLine(article.id, go, cancel));
    const { status } = await calls.untilFinal(workspace, job.id);
    expect([(await cancelled)?.status, status]).toEqual(
      order === 'the person first' ? [202, 'CANCELLED'] : [409, 'COMPLETED'],
    );
    expect(await settled()).toBe(status === 'COMPLETED' ? 1 : 0);
    expect((await calls.readAsset(workspace, asset)).url === asset.url).toBe(status === 'CANCELLED');
  });

  it('edits the article: neither is lost', async () => {
    const { article, asset } = await calls.illustrated(workspace, 'published');
    const tag = (await service.call(workspace.key, 'GET', `/api/articles/${article.id}`)).headers.get('etag');
    const { job, go } = await underWay(asset);
    let saved: Promise<{ status: number }> | undefined;
    const save = () => {
      const documentJson = documentOf(paragraph('Other words'), image(asset.id));
      saved = editor().patch(article.id, { documentJson }, tag ?? '');
    };
    await inLine(article.id, go, save);
    expect([(await saved)?.status, (await calls.untilFinal(workspace, job.id)).status]).toEqual([
      200,
      'COMPLETED',
    ]);
    const { contentHtml } = await calls.readArticle(workspace, article.id);
    expect(contentHtml).toContain('Other words');
    expect(contentHtml).toContain((await calls.readAsset(workspace, asset)).url);
    expect(await settled()).toBe(1);
  });
});

// contract.md G116
describe('two requests at one moment', () => {
  it('for one image: one is queued, the other is told of it', async () => {
    const { article, asset } = await calls.illustrated(workspace);
    const { promise, resolve } = Promise.withResolvers<undefined>();
    model.behave = () => promise;
    let answers: Promise<{ status: number; body: { job: { id: string } } }[]> | undefined;
    const ask = () => calls.request(workspace, asset, { prompt: 'Rain' });
    await whileLocked(service.db, article.id, async () => {
      answers = Promise.all([ask(), ask()]);
      await untilWaiting(service.db, 2);
    });
    const got = (await answers) ?? [];
    expect(got.map(({ status }) => status).sort()).toEqual([202, 409]);
    resolve(undefined);
    const queued = got.find(({ status }) => status === 202)?.body.job.id ?? '';
    expect((await calls.untilFinal(workspace, queued)).status).toBe('COMPLETED');
    expect(await settled()).toBe(1);
    expect(await reported(article.id)).toHaveLength(1);
  });

  it('for two images of an article: both are made', async () => {
    const { article, asset } = await calls.illustrated(workspace, 'published');
    const other: Asset = (
      await editor().upload('POST', `/api/articles/${article.id}/assets`, await picture(5))
    ).body.asset;
    const ended = await Promise.all([asset, other].map((each) => calls.regenerateTo(workspace, each)));
    expect(ended.map(({ status }) => status)).toEqual(['COMPLETED', 'COMPLETED']);
    expect(await settled()).toBe(2);
    expect((await reported(article.id)).map(({ assetId }) => assetId).sort()).toEqual(
      [asset.id, other.id].sort(),
    );
  });
});

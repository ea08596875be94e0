import { describe, expect, it } from 'vitest';
import { createApiKey } from '../../src/api-keys/create.ts';
import type { ArticleId } from '../../src/ids.ts';
import type { Permission } from '../../src/permissions.ts';
import { pseudoLocalize as pseudo } from '../../src/providers/pseudo.ts';
import { ProviderError } from '../../src/providers/types.ts';
import { createRole } from '../../src/roles/create.ts';
import { settleTranslation } from '../../src/translations/settle.ts';
import { listenToAll } from '../support/events.ts';
import { hang } from '../support/translating.ts';
import { eventually } from '../support/wait.ts';
import { addAsset, usedBytes } from './support/images.ts';
import { untilWaiting, whileLocked } from './support/locks.ts';
import { SOURCE, textOf, useRefreshes, withTexts } from './support/refreshing.ts';

const {
  service,
  provider,
  workspace,
  calls,
  call,
  translated,
  save,
  refresh,
  refreshTo,
  read,
  proposals,
  decide,
  wallet,
  moveTo,
  hold,
  updatesOf,
  addImage,
  limit,
} = useRefreshes();

describe('a refresh', () => {
  // contract.md T29
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

  // contract.md T30
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

  // contract.md T31
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
    expect(
      (await call('POST', `${version.id}/refresh`, { units: ['block:p1', 'block:nowhere'] })).body,
    ).toMatchObject({
      status: 400,
      errors: [{ pointer: '/units/1' }],
    });
    expect((await call('DELETE', source.id)).status).toBe(200);
    for (const id of [version.id, source.id]) {
      const { body } = await call('GET', `${id}/refresh/estimate`);
      if (id === version.id) expect(body).toMatchObject({ status: 409, details: { reason: 'source_gone' } });
      else expect(body.status).toBe(404);
    }
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
    const reasons = keyless.flatMap(({ body }) => body.details?.reason ?? []);
    expect(reasons).toEqual(Array(3).fill('refresh_running'));
    go();
    const { job } = keyless.find(({ status }) => status === 202)?.body ?? {};
    await calls.untilFinal(workspace, job.id);
    expect(await settleTranslation(service.db, job.id)).toBe(false);
    expect(await wallet()).toMatchObject({ balance: before.balance - 2, reserved: 0 });
  });

  // contract.md T32
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
    const [estimated, deleted] = await Promise.all([
      call('GET', `${version.id}/refresh/estimate`),
      call('DELETE', version.id),
    ]);
    expect([200, 404]).toContain(estimated.status);
    expect(deleted.status).toBe(200);
    expect(await wallet()).toEqual(before);
    expect(await usedBytes(service, workspace)).toBe(bytes + 600);
  });

  // contract.md T33
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
    const { job, estimate } = await refresh(version.id, { apply: 'none', units: ['block:p1', 'block:p2'] });
    expect(estimate).toMatchObject({ changedBlocks: 2, total: 3 });
    expect((await decide(version.id, second.id, 'reject')).status).toBe(200);
    go();
    const ended = await calls.untilFinal(workspace, job.id);
    expect(ended).toMatchObject({ reservedCredits: 3, consumedCredits: 2 });
    expect((await wallet()).reserved).toBe(0);
    expect(await proposals(version.id)).toMatchObject([{ unit: 'block:p1', jobId: job.id }]);
  });

  // contract.md T34
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

  // contract.md T35
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

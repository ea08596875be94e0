import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { pruneFormerBlobs } from '../../src/articles/former-blobs.ts';
import type { Asset } from '../../src/assets/schemas.ts';
import { collectBlobs } from '../../src/blobs/collect.ts';
import { createBlobStore } from '../../src/blobs/create.ts';
import type { ArticleId, AssetId, JobId } from '../../src/ids.ts';
import { ProviderError } from '../../src/providers/types.ts';
import { setLimits } from '../../src/workspaces/set-limits.ts';
import { documentOf, editing, paragraph } from '../articles/support.ts';
import { picture, useDrawing } from '../support/drawing.ts';
import { hang } from '../support/translating.ts';
import { eventually } from '../support/wait.ts';

const { service, workspace, calls, model } = useDrawing();
const editor = () => editing(service, workspace);
const UNCHARGED = { balance: 20, reserved: 0, available: 20 };
const left = () => calls.readWallet(workspace);
/** What the images of the workspace take, as their rows say. */
const bytesOfAssets = async () => {
  const { rows } = await sql<{ bytes: number }>`
    SELECT coalesce(sum(byte_size + variant_bytes), 0)::float8 AS bytes FROM assets WHERE workspace_id = ${workspace.id}`.execute(
    service.db,
  );
  return rows[0]?.bytes;
};
const drawsNothing = (): void => {
  model.behave = async ({ signal }) => {
    await hang(signal);
    return undefined;
  };
};
const reasonOf = ({ status, body }: { status: number; body: { details?: { reason?: string } } }) => [
  status,
  body.details?.reason,
];

describe('an image that is regenerated', () => {
  // contract.md G115, G117, G121 and G124
  it('keeps its id and alternative text, has other bytes at another address, and is charged and reported once', async () => {
    const { article, asset } = await calls.illustrated(workspace, 'published');
    const before = await calls.readArticle(workspace, article.id);
    const told = (await editor().events(article.id)).length;
    const response = await calls.request(workspace, asset, { prompt: 'A vegetable bed', quality: 'hd' });
    expect([response.status, response.body]).toMatchObject([
      202,
      {
        reused: false,
        estimate: { quality: 'hd', total: 3 },
        article: { id: article.id, status: 'PUBLISHED' },
        job: {
          kind: 'generation',
          status: 'QUEUED',
          articleId: article.id,
          estimatedCredits: 3,
          reservedCredits: 3,
        },
      },
    ]);
    const job = await calls.untilFinal(workspace, response.body.job.id);
    expect(job).toMatchObject({
      status: 'COMPLETED',
      currentStep: 'finalize',
      progress: 100,
      consumedCredits: 3,
      errorCode: null,
    });
    expect(model.requests).toMatchObject([
      { prompt: 'A vegetable bed', quality: 'hd', role: 'inline', style: 'editorial' },
    ]);
    const after = await calls.readAsset(workspace, asset);
    expect(after).toMatchObject({
      id: asset.id,
      altText: 'A bed',
      fileName: 'bed.webp',
      mediaType: 'image/webp',
      prompt: 'A vegetable bed',
      width: 64,
      height: 36,
    });
    expect(after.url).not.toBe(asset.url);
    expect((await calls.load(after.url))?.type).toBe('image/webp');
    expect(await left()).toEqual({ balance: 17, reserved: 0, available: 17 });
    expect(await editor().storageUsed()).toBe(await bytesOfAssets());
    const shown = await calls.readArticle(workspace, article.id);
    expect(shown.contentHtml).toBe(before.contentHtml?.replace(asset.url, after.url));
    const { id: articleId } = article;
    const events = (await editor().events(articleId)).slice(told);
    expect(events.map(({ event, data }) => [event, data])).toEqual([
      ['image.regenerated', { articleId, assetId: asset.id }],
      ['article.updated', expect.objectContaining({ articleId, status: 'PUBLISHED', changed: ['content'] })],
      ['credits.consumed', { articleId, jobId: job.id, credits: 3 }],
    ]);
    const { rows } = await sql<{ action: string; kind: string; details: unknown }>`
      SELECT action, actor_kind AS kind, details FROM audit_entries
      WHERE workspace_id = ${workspace.id} AND action LIKE 'assets.regenerat%' ORDER BY id`.execute(
      service.db,
    );
    expect(rows).toMatchObject([
      {
        action: 'assets.regeneration_requested',
        kind: 'api_key',
        details: { jobId: job.id, assetId: asset.id },
      },
      { action: 'assets.regenerated', kind: 'system', details: { jobId: job.id, articleId } },
    ]);
  });

  // contract.md G115
  it('is drawn from its own prompt, in the style of the project, another picture each time', async () => {
    const { asset } = await calls.illustrated(workspace);
    const article = await calls.readArticle(workspace, asset.articleId);
    await service.call(workspace.key, 'PATCH', `/api/projects/${article.projectId}`, {
      imageSettings: { inline: { style: 'watercolor' } },
    });
    await calls.regenerateTo(workspace, asset, { prompt: 'Rain' });
    const first = await calls.readAsset(workspace, asset);
    const answer = await calls.request(workspace, asset);
    expect(answer.body.estimate).toEqual({ quality: 'standard', total: 1 });
    await calls.untilFinal(workspace, answer.body.job.id);
    expect(model.requests).toMatchObject([
      { prompt: 'Rain', style: 'watercolor' },
      { prompt: 'Rain', style: 'watercolor', quality: 'standard' },
    ]);
    expect(model.requests[0]?.seed).not.toBe(model.requests[1]?.seed);
    expect((await calls.readAsset(workspace, asset)).url).not.toBe(first.url);
    expect(await left()).toEqual({ balance: 18, reserved: 0, available: 18 });
  });

  it('takes the quality of the settings that the article was generated with', async () => {
    const { asset } = await calls.illustrated(workspace);
    await service.db
      .updateTable('articles')
      .set({
        generation_config: JSON.stringify({ topic: 'Beds', imageQuality: 'hd', imageStyle: 'cinematic' }),
      })
      .where('id', '=', asset.articleId as ArticleId)
      .execute();
    const path = `/api/articles/${asset.articleId}/assets/${asset.id}/regenerate/estimate`;
    expect((await service.call(workspace.key, 'GET', path)).body).toEqual({
      estimate: { quality: 'hd', total: 3 },
      wallet: UNCHARGED,
      sufficient: true,
    });
    expect((await service.call(workspace.key, 'GET', `${path}?quality=standard`)).body.estimate).toEqual({
      quality: 'standard',
      total: 1,
    });
    expect(await calls.regenerateTo(workspace, asset)).toMatchObject({ consumedCredits: 3 });
    expect(model.requests).toMatchObject([{ quality: 'hd', style: 'cinematic' }]);
  });

  // contract.md G120
  it('refuses no save of somebody who began before, and changes what a review has read', async () => {
    const { article, asset } = await calls.illustrated(workspace);
    const read = await service.call(workspace.key, 'GET', `/api/articles/${article.id}`);
    const etag = read.headers.get('etag') ?? '';
    await calls.regenerateTo(workspace, asset);
    const now = await service.call(workspace.key, 'GET', `/api/articles/${article.id}`);
    expect(now.headers.get('etag')).not.toBe(etag);
    expect(now.body.article.contentTag).not.toBe(read.body.article.contentTag);
    expect((await editor().patch(article.id, { metaTitle: 'Beds' }, etag)).status).toBe(200);
  });

  it('of a cover changes its article, of an image that the body does not show only the image', async () => {
    const { id } = await editor().create(await service.project(workspace));
    const cover = (await editor().upload('PUT', `/api/articles/${id}/hero`, await picture(7))).body.asset;
    const spare = (await editor().upload('POST', `/api/articles/${id}/assets`, await picture(8))).body.asset;
    const tag = async () =>
      (await service.call(workspace.key, 'GET', `/api/articles/${id}`)).headers.get('etag');
    const first = await tag();
    await calls.regenerateTo(workspace, spare);
    expect(await tag()).toBe(first);
    await calls.regenerateTo(workspace, cover);
    expect(await tag()).not.toBe(first);
    expect(model.requests.map(({ role }) => role)).toEqual(['inline', 'hero']);
  });

  // contract.md G123
  it('goes on being served at its earlier addresses, which the nightly prune ends when the grace is over', async () => {
    const { asset } = await calls.illustrated(workspace);
    const original = await calls.load(asset.url);
    await calls.regenerateTo(workspace, asset);
    const second = await calls.readAsset(workspace, asset);
    await calls.regenerateTo(workspace, asset);
    expect(await calls.load(asset.url)).toEqual(original);
    for (const url of [second.url, second.thumbnailUrl]) {
      expect(url === null ? url : await calls.load(url)).not.toBeNull();
    }
    const former = () =>
      service.db
        .selectFrom('asset_former_blobs')
        .select('content_hash')
        .where('asset_id', '=', asset.id as AssetId)
        .execute();
    expect((await former()).length).toBeGreaterThanOrEqual(2);
    const blobs = await createBlobStore(service.config);
    const collect = () =>
      collectBlobs(service.db, { blobs, graceMs: 0, signal: new AbortController().signal });
    await pruneFormerBlobs(service.db, { retentionMs: 3_600_000 });
    await collect();
    expect(await calls.load(asset.url)).toEqual(original);
    await pruneFormerBlobs(service.db, { retentionMs: 0 });
    expect([await calls.load(asset.url), await former()]).toEqual([null, []]);
    expect(await collect()).toBeGreaterThanOrEqual(2);
    expect(await calls.load((await calls.readAsset(workspace, asset)).url)).not.toBeNull();
  });

  it('takes its earlier addresses with it when it is deleted', async () => {
    const { asset } = await calls.illustrated(workspace);
    await calls.regenerateTo(workspace, asset);
    expect(await calls.load(asset.url)).not.toBeNull();
    await service.call(workspace.key, 'DELETE', `/api/articles/${asset.articleId}/assets/${asset.id}`);
    expect(await calls.load(asset.url)).toBeNull();
    expect(await editor().storageUsed()).toBe(0);
  });
});

describe('a request that is refused', () => {
  // contract.md G115
  it('an uploaded image without a prompt is 400 and names it', async () => {
    const { asset } = await calls.illustrated(workspace);
    for (const body of [undefined, {}, { prompt: ' ' }]) {
      const answer = await service.call(
        workspace.key,
        'POST',
        `/api/articles/${asset.articleId}/assets/${asset.id}/regenerate`,
        body,
      );
      expect([answer.status, answer.body.errors?.[0]?.pointer]).toEqual([400, '/prompt']);
    }
    expect(await left()).toEqual(UNCHARGED);
  });

  // contract.md G116
  it('while a job owns the article, and while another regenerates this image; another image is free', async () => {
    const { article, asset } = await calls.illustrated(workspace);
    const other = (await editor().upload('POST', `/api/articles/${article.id}/assets`, await picture(5))).body
      .asset;
    drawsNothing();
    const job = await calls.regenerate(workspace, asset);
    expect(reasonOf(await calls.request(workspace, asset, { prompt: 'Rain' }))).toEqual([409, 'job_running']);
    const beside = await calls.regenerate(workspace, other);
    for (const { id } of [job, beside]) await calls.cancel(workspace, id);
    const owner = await editor().openJob(article, 'generate');
    expect(reasonOf(await calls.request(workspace, asset, { prompt: 'Rain' }))).toEqual([409, 'job_running']);
    await service.db.deleteFrom('jobs').where('id', '=', owner).execute();
    expect(await left()).toEqual(UNCHARGED);
  });

  it('without credits, without storage, without permissions, of another article or workspace', async () => {
    const { asset } = await calls.illustrated(workspace);
    const poor = await service.workspace(0);
    const theirs = await calls.illustrated(poor);
    expect((await calls.request(poor, theirs.asset, { prompt: 'Rain' })).status).toBe(402);
    expect((await calls.request(poor, asset, { prompt: 'Rain' })).status).toBe(404);
    const mixed = { id: theirs.asset.id, articleId: asset.articleId };
    expect((await calls.request(workspace, mixed, { prompt: 'Rain' })).status).toBe(404);
    await setLimits(workspace.context, { storageBytes: 1_000_000 });
    expect((await calls.request(workspace, asset, { prompt: 'Rain' })).body.code).toBe('QUOTA_EXCEEDED');
    expect(await left()).toEqual(UNCHARGED);
    expect(await editor().storageUsed()).toBe(await bytesOfAssets());
  });

  it('a repeated key returns the first job, whatever it asks for', async () => {
    const { asset } = await calls.illustrated(workspace);
    const idempotencyKey = `again-${asset.id}`;
    const job = await calls.regenerate(workspace, asset, { idempotencyKey });
    const again = await calls.request(workspace, asset, { idempotencyKey, prompt: 'Snow', quality: 'hd' });
    expect([again.status, again.body.reused, again.body.estimate, again.body.job.id]).toEqual([
      200,
      true,
      null,
      job.id,
    ]);
    const two = await Promise.all(
      [1, 2].map(() =>
        calls.request(workspace, asset, { prompt: 'Rain' }, { 'idempotency-key': `${asset.id}-2` }),
      ),
    );
    await calls.untilFinal(workspace, job.id);
    for (const { body } of two) if (body.job) await calls.untilFinal(workspace, body.job.id);
    expect(new Set(two.map(({ body }) => body.job?.id)).size).toBe(1);
  });
});

describe('a regeneration that brings nothing', () => {
  const failures: [string, () => Promise<Uint8Array | undefined>, RegExp, number][] = [
    [
      'a model that declines',
      () => Promise.reject(new ProviderError('refused', 'policy')),
      /declines to draw/,
      1,
    ],
    [
      'bytes that are no image, twice',
      async () => Buffer.from('hello world'),
      /cannot be used as an image/,
      1,
    ],
    [
      'a model that sends no image, twice',
      () => Promise.reject(new ProviderError('unusable', 'no image')),
      /cannot be used as an image/,
      2,
    ],
    [
      'a model that does not exist',
      () => Promise.reject(new ProviderError('unavailable', 'gone', { unanswered: true })),
      /no whole response/,
      1,
    ],
  ];
  // contract.md G119
  it.each(failures)('%s: the image stays, and nothing is charged', async (_, behave, message, asked) => {
    const { article, asset } = await calls.illustrated(workspace, 'published');
    const told = await editor().eventTypes(article.id);
    model.behave = behave;
    const job = await calls.regenerateTo(workspace, asset);
    expect(job).toMatchObject({
      status: 'FAILED',
      errorCode: 'GENERATION_FAILED',
      errorMessage: expect.stringMatching(message),
      consumedCredits: 0,
    });
    expect(model.requests).toHaveLength(asked);
    expect(await calls.readAsset(workspace, asset)).toEqual(asset);
    expect(await left()).toEqual(UNCHARGED);
    expect(await editor().storageUsed()).toBe(await bytesOfAssets());
    expect(await editor().eventTypes(article.id)).toEqual(told);
    const report = await service.call(workspace.key, 'GET', `/api/jobs/${job.id}/report`);
    expect(report.body.report).toMatchObject({
      jobId: job.id,
      assetId: asset.id,
      status: 'FAILED',
      credits: { consumed: 0 },
      reason: expect.any(String),
    });
    expect(report.body.report.calls).toHaveLength(asked);
  });

  it('a cancelled one, at once; what was drawn counts as unpaid work', async () => {
    const { asset } = await calls.illustrated(workspace);
    drawsNothing();
    const job = await calls.regenerate(workspace, asset, { quality: 'hd' });
    await eventually(
      async () => model.requests.length,
      (count) => count === 1,
    );
    const cancelled = await calls.cancel(workspace, job.id);
    expect(cancelled.body.job).toMatchObject({ status: 'CANCELLED', consumedCredits: 0 });
    expect(await left()).toEqual(UNCHARGED);
    expect(await editor().storageUsed()).toBe(await bytesOfAssets());
    expect(await calls.readAsset(workspace, asset)).toEqual(asset);
    const counted = await service.db
      .selectFrom('unpaid_work')
      .select(['reason', 'words'])
      .where('job_id', '=', job.id as JobId)
      .execute();
    expect(counted).toEqual([{ reason: 'cancelled', words: 1_500 }]);
  });
});

describe('while an image is regenerated', () => {
  // contract.md G116
  it('its article is edited, translated, reviewed, published and deleted', async () => {
    const { article, asset } = await calls.illustrated(workspace);
    const { promise: drawn, resolve: go } = Promise.withResolvers<undefined>();
    model.behave = () => drawn;
    await calls.regenerate(workspace, asset);
    const translated = await service.call(workspace.key, 'POST', `/api/articles/${article.id}/translations`, {
      language: 'es',
    });
    expect(translated.status).toBe(202);
    await calls.untilFinal(workspace, translated.body.job.id);
    expect((await editor().patch(article.id, { metaTitle: 'Beds' })).status).toBe(200);
    expect((await editor().submit(article.id)).status).toBe(200);
    expect((await editor().review(article.id, 'approved')).status).toBe(201);
    expect((await editor().publish(article.id)).status).toBe(200);
    expect((await editor().remove(article.id)).status).toBe(200);
    go(undefined);
    const wallet = await left();
    expect(wallet.reserved).toBe(0);
    expect(await editor().storageUsed()).toBe(await bytesOfAssets());
  });

  // contract.md G122
  it('the version of another language keeps the image of before, and a refresh brings the new one', async () => {
    const { article, asset } = await calls.illustrated(workspace);
    const { body } = await service.call(workspace.key, 'POST', `/api/articles/${article.id}/translations`, {
      language: 'es',
    });
    await calls.untilFinal(workspace, body.job.id);
    const version = body.article.id;
    const copies = async (): Promise<Asset[]> =>
      (await service.call(workspace.key, 'GET', `/api/articles/${version}/assets`)).body.assets;
    const [copy] = await copies();
    const changed = async () =>
      (await service.call(workspace.key, 'GET', `/api/articles/${version}/refresh/estimate`)).body.estimate
        .changedImages;
    expect(await changed()).toBe(0);
    await calls.regenerateTo(workspace, asset);
    expect([await copies(), await changed()]).toEqual([[copy], 1]);
    const refresh = await service.call(workspace.key, 'POST', `/api/articles/${version}/refresh`);
    await calls.untilFinal(workspace, refresh.body.job.id);
    const [refreshed] = await copies();
    const now = await calls.readAsset(workspace, asset);
    expect(await calls.load(refreshed?.url ?? '')).toEqual(await calls.load(now.url));
    expect(await editor().storageUsed()).toBe(await bytesOfAssets());
  });

  it('its empty draft is generated, and each job ends by itself', async () => {
    const { id } = await editor().create(await service.project(workspace), { documentJson: documentOf() });
    const cover = (await editor().upload('PUT', `/api/articles/${id}/hero`, await picture(7))).body.asset;
    const { promise: drawn, resolve: go } = Promise.withResolvers<undefined>();
    model.behave = async ({ prompt, signal }) => {
      if (prompt.includes('A bed in spring')) await Promise.race([drawn, hang(signal)]);
      return undefined;
    };
    const redrawing = await calls.regenerate(workspace, cover);
    expect((await calls.readArticle(workspace, id)).status).toBe('DRAFT');
    await eventually(
      async () => model.requests.length,
      (count) => count === 1,
    );
    const generated = await service.call(workspace.key, 'POST', `/api/articles/${id}/generate`, {
      generationConfig: { topic: 'Beds', wordCount: 200, imageCount: 2 },
    });
    expect(generated.body).toMatchObject({ article: { status: 'QUEUED' } });
    expect(await calls.untilFinal(workspace, generated.body.job.id)).toMatchObject({
      status: 'COMPLETED',
      consumedCredits: 3,
    });
    go(undefined);
    expect(await calls.untilFinal(workspace, redrawing.id)).toMatchObject({
      status: 'COMPLETED',
      consumedCredits: 1,
    });
    expect(await calls.readAsset(workspace, cover)).toMatchObject({ id: cover.id, role: 'hero' });
    const sent = (await editor().events(id)).filter(({ event }) => event.startsWith('image.'));
    expect(sent.map(({ event, data }) => [event, data.type])).toEqual([
      ['image.generated', 'inline'],
      ['image.regenerated', undefined],
    ]);
    expect(await left()).toEqual({ balance: 16, reserved: 0, available: 16 });
    expect(await editor().storageUsed()).toBe(await bytesOfAssets());
  });

  // contract.md G118
  it('a person who deletes it is not overruled: the job fails, uncharged, and says so', async () => {
    const { article, asset } = await calls.illustrated(workspace);
    model.behave = async () => {
      await service.call(workspace.key, 'DELETE', `/api/articles/${article.id}/assets/${asset.id}`);
      return undefined;
    };
    const job = await calls.regenerateTo(workspace, asset);
    expect(job).toMatchObject({
      status: 'FAILED',
      consumedCredits: 0,
      errorMessage: expect.stringMatching(/replaced or deleted/),
    });
    expect(
      (await service.call(workspace.key, 'GET', `/api/articles/${article.id}/assets`)).body.assets,
    ).toEqual([]);
    expect(await left()).toEqual(UNCHARGED);
    expect(await editor().storageUsed()).toBe(0);
    expect(await editor().eventTypes(article.id)).not.toContain('image.regenerated');
  });

  it('a cover that a person replaces meanwhile is reported once, under its new id', async () => {
    const { id } = await editor().create(await service.project(workspace), {
      documentJson: documentOf(paragraph('Text')),
    });
    const hero = `/api/articles/${id}/hero`;
    const cover = (await editor().upload('PUT', hero, await picture(7))).body.asset;
    let own: { id: string } | undefined;
    model.behave = async () => {
      own = (await editor().upload('PUT', hero, await picture(9))).body.asset;
      return undefined;
    };
    const job = await calls.regenerateTo(workspace, cover);
    expect(job).toMatchObject({ status: 'FAILED', consumedCredits: 0 });
    const reported = (await editor().events(id)).filter(({ event }) => event === 'image.regenerated');
    expect(reported.map(({ data }) => data)).toEqual([{ articleId: id, assetId: own?.id, type: 'hero' }]);
    const { assets } = (await service.call(workspace.key, 'GET', `/api/articles/${id}/assets`)).body;
    expect(assets).toMatchObject([{ id: own?.id }]);
  });
});

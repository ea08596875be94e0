import { expect, it } from 'vitest';
import { readTextBytes } from '../../src/db/quotas.ts';
import { ProviderError } from '../../src/providers/types.ts';
import { createArticle, longDocument } from '../support/articles.ts';
import { hang, useTranslations } from '../support/translating.ts';
import { eventually } from '../support/wait.ts';
import { addAsset, createIllustrated, usedBytes } from './support/images.ts';
import { untilWaiting, whileLocked } from './support/locks.ts';

const { service, provider, workspace, calls } = useTranslations({ credits: 100 });

const request = (articleId: string, language = 'es') => calls.request(workspace, articleId, language);
const translateTo = (articleId: string, language = 'es') => calls.translateTo(workspace, articleId, language);

it('is held from the request on, and given back by a failure and by a cancellation, not by a success', async () => {
  const projectId = await service.project(workspace);
  const source = await createArticle(service.db, workspace, projectId);
  await addAsset(service, workspace, source.id, 'inline', 500);
  provider.behave = hang;
  const held = await request(source.id);
  expect([held.status, await usedBytes(service, workspace)]).toEqual([202, 1000]);
  expect((await calls.cancel(workspace, held.body.job.id)).status).toBe(202);
  expect(await usedBytes(service, workspace)).toBe(500);
  provider.behave = async () => {
    throw new ProviderError('fatal', 'No.');
  };
  expect((await translateTo(source.id)).job.status).toBe('FAILED');
  expect(await usedBytes(service, workspace)).toBe(500);
  provider.behave = async () => undefined;
  expect((await translateTo(source.id)).job.status).toBe('COMPLETED');
  expect(await usedBytes(service, workspace)).toBe(1000);
});

it('is never overrun by races: of eight copies at once exactly those that fit are taken, the others are 429', async () => {
  provider.behave = hang;
  const projectId = await service.project(workspace);
  const sources = await Promise.all(
    Array.from({ length: 8 }, () => createArticle(service.db, workspace, projectId)),
  );
  for (const source of sources) await addAsset(service, workspace, source.id, 'inline', 100);
  await service.db
    .updateTable('workspaces')
    // Each copy has an empty draft as well.
    .set({ storage_bytes_limit: (await readTextBytes(service.db, workspace.id)) + 1_199 })
    .where('id', '=', workspace.id)
    .execute();
  const answers = await Promise.all(sources.map((source) => request(source.id)));
  expect(answers.map(({ status }) => status).sort()).toEqual([202, 202, 202, ...Array(5).fill(429)]);
  for (const { status, body } of answers) if (status === 429) expect(body.code).toBe('QUOTA_EXCEEDED');
  expect(await usedBytes(service, workspace)).toBe(1_100);
  expect(await calls.readWallet(workspace)).toEqual({ balance: 100, reserved: 3, available: 97 });
  const accepted = answers.filter(({ status }) => status === 202);
  await Promise.all(accepted.map(({ body }) => calls.cancel(workspace, body.job.id)));
  expect(await usedBytes(service, workspace)).toBe(800);
});

// contract.md T16
it('images are copied as rows of their own that share the bytes, and count toward the quota', async () => {
  const { source, assetId } = await createIllustrated(service, workspace);
  const { article, job } = (await request(source.id)).body;
  expect(await usedBytes(service, workspace)).toBe(700);
  expect(await calls.untilFinal(workspace, job.id)).toMatchObject({ status: 'COMPLETED' });
  const copies = await service.db
    .selectFrom('assets')
    .select([
      'id',
      'content_hash',
      'byte_size',
      'preview_hash',
      'thumbnail_hash',
      'variant_bytes',
      'alt_text',
      'role',
    ])
    .where('article_id', '=', article.id)
    .execute();
  expect(copies).toEqual([
    {
      id: expect.not.stringMatching(assetId),
      content_hash: 'b'.repeat(64),
      byte_size: 600,
      preview_hash: 'd'.repeat(64),
      thumbnail_hash: 'e'.repeat(64),
      variant_bytes: 100,
      alt_text: expect.not.stringMatching('Beds from above'),
      role: 'inline',
    },
  ]);
  const { documentJson } = await calls.readArticle(workspace, article.id);
  expect(documentJson.blocks[1]).toMatchObject({ id: 'i', type: 'image', assetId: copies[0]?.id });
  expect(await usedBytes(service, workspace)).toBe(700);
});

it('a failed or cancelled run gives its bytes back and leaves no copy', async () => {
  provider.behave = async () => {
    throw new ProviderError('fatal', 'The engine does not know this language pair.');
  };
  const { source } = await createIllustrated(service, workspace);
  const failing = (await request(source.id)).body;
  expect(await calls.untilFinal(workspace, failing.job.id)).toMatchObject({ status: 'FAILED', progress: 0 });
  expect(await usedBytes(service, workspace)).toBe(0);
  await service.stopWorkers();
  const cancelled = (await request(source.id)).body;
  expect(cancelled.article.id).toBe(failing.article.id);
  expect(await usedBytes(service, workspace)).toBe(700);
  await calls.cancel(workspace, cancelled.job.id);
  expect(await usedBytes(service, workspace)).toBe(0);
  const copies = await service.db
    .selectFrom('assets')
    .select('id')
    .where('article_id', '=', failing.article.id)
    .execute();
  expect(copies).toEqual([]);
  await service.startWorker({ provider });
});

it('a translation does not count toward the quota of AI operations', async () => {
  const source = await createArticle(service.db, workspace, await service.project(workspace));
  const { job } = (await request(source.id)).body;
  await calls.untilFinal(workspace, job.id);
  expect(await service.db.selectFrom('ai_operation_usage').selectAll().execute()).toEqual([]);
});

// contract.md J3
it('the one that comes first wins, and the other changes nothing', async () => {
  for (const first of ['cancel', 'settle'] as const) {
    let go = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    provider.behave = () => gate;
    const { article, job } = await calls.translate(workspace, 100);
    await eventually(
      () => calls.readJob(workspace, job.id),
      ({ status }) => status === 'TRANSLATING',
    );
    let cancelled: Promise<{ status: number }> | undefined;
    await whileLocked(service.db, article.id, async () => {
      if (first === 'cancel') {
        cancelled = calls.cancel(workspace, job.id);
        await untilWaiting(service.db, 1);
        go();
      } else {
        go();
        await untilWaiting(service.db, 1);
        cancelled = calls.cancel(workspace, job.id);
      }
      await untilWaiting(service.db, 2);
    });
    const done = await calls.untilFinal(workspace, job.id);
    expect((await cancelled)?.status).toBe(first === 'cancel' ? 202 : 409);
    expect(done).toMatchObject(
      first === 'cancel'
        ? { status: 'CANCELLED', currentStep: 'finalize', progress: 95, consumedCredits: 0 }
        : { status: 'COMPLETED', progress: 100, consumedCredits: 1 },
    );
    expect(await calls.readArticle(workspace, article.id)).toMatchObject(
      first === 'cancel'
        ? { status: 'DRAFT', documentJson: { version: 1, blocks: [] }, wordCount: 0 }
        : { status: 'NEEDS_REVIEW', wordCount: 100 },
    );
  }
  expect(await calls.readWallet(workspace)).toEqual({ balance: 99, reserved: 0, available: 99 });
});

// contract.md T17
it('at any moment: the job ends once, and credits and bytes agree with how it ended', async () => {
  const projectId = await service.project(workspace);
  let completed = 0;
  for (let round = 0; round < 24; round += 1) {
    const source = await createArticle(service.db, workspace, projectId, { document: longDocument(60) });
    await addAsset(service, workspace, source.id, 'inline', 1);
    const { body } = await request(source.id);
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 120));
    const response = await calls.cancel(workspace, body.job.id);
    const done = await calls.untilFinal(workspace, body.job.id);
    expect([done.status, response.status]).toEqual(
      response.status === 202 ? ['CANCELLED', 202] : ['COMPLETED', 409],
    );
    if (done.status === 'COMPLETED') completed += 1;
    expect((await calls.readArticle(workspace, done.articleId)).status).toBe(
      done.status === 'COMPLETED' ? 'NEEDS_REVIEW' : 'DRAFT',
    );
  }
  expect(await calls.readWallet(workspace)).toEqual({
    balance: 100 - completed,
    reserved: 0,
    available: 100 - completed,
  });
  expect(await usedBytes(service, workspace)).toBe(24 + completed);
});

import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { newId } from '../../src/ids.ts';
import { endJob } from '../../src/jobs/end.ts';
import { createArticle, longDocument } from '../support/articles.ts';
import { listenToAll } from '../support/events.ts';
import { useTestService } from '../support/service.ts';
import { creating } from './support/creating.ts';
import { untilWaiting } from './support/locks.ts';

const service = useTestService();

const { create, wallet } = creating(service);

describe('an accepted translation', () => {
  // contract.md T2, T3 and J11
  it('answers 202 with the queued article, the job and the estimate, and holds the credits', async () => {
    const workspace = await service.workspace(10);
    const projectId = await service.project(workspace);
    const source = await createArticle(service.db, workspace, projectId, { document: longDocument(1001) });
    const response = await create(workspace, source.id, { language: 'ES', idempotencyKey: 'first-key' });
    expect(response.status).toBe(202);
    const { article, job, estimate, reused } = response.body;
    expect(estimate).toEqual({ words: 1001, total: 2 });
    expect(reused).toBe(false);
    expect(article).toMatchObject({
      workspaceId: workspace.id,
      projectId,
      title: source.title,
      status: 'QUEUED',
      documentJson: { version: 1, blocks: [] },
      primaryLanguage: 'es',
      translationGroupId: source.translation_group_id,
      wordCount: 0,
      createdBy: null,
      publishedAt: null,
    });
    expect(job).toEqual({
      id: expect.any(String),
      articleId: article.id,
      workspaceId: workspace.id,
      projectId,
      status: 'QUEUED',
      kind: 'translation',
      currentStep: null,
      progress: 0,
      idempotencyKey: 'first-key',
      estimatedCredits: 2,
      reservedCredits: 2,
      consumedCredits: 0,
      errorCode: null,
      errorMessage: null,
      createdAt: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
    });
    expect(await wallet(workspace)).toEqual({ balance: 10, reserved: 2 });
    const walletResponse = await service.call(workspace.key, 'GET', `/api/workspaces/${workspace.id}/wallet`);
    expect(walletResponse.body).toEqual({ wallet: { balance: 10, reserved: 2, available: 8 } });
  });

  it('tells article.created of the draft, and leaves an audit entry that says what it was made from', async () => {
    const workspace = await service.workspace(10);
    await listenToAll(service.db, workspace.id);
    const projectId = await service.project(workspace);
    const source = await createArticle(service.db, workspace, projectId, { document: longDocument(1001) });
    const { article, job } = (await create(workspace, source.id, { language: 'es' })).body;
    const events = await service.db
      .selectFrom('events')
      .select('body')
      .where('workspace_id', '=', workspace.id)
      .execute();
    expect(events.map(({ body }) => JSON.parse(body.toString()))).toEqual([
      { event: 'article.created', data: { articleId: article.id, projectId, title: source.title } },
    ]);
    const entries = await service.db
      .selectFrom('audit_entries')
      .select(['action', 'target_type', 'actor_kind', 'details'])
      .where('target_id', '=', article.id)
      .execute();
    expect(entries).toEqual([
      {
        action: 'translations.created',
        target_type: 'article',
        actor_kind: 'api_key',
        details: { jobId: job.id, sourceArticleId: source.id, language: 'es', credits: 2 },
      },
    ]);
  });

  // contract.md T12
  it('generates an idempotency key when none is sent, and takes the header when the body has none', async () => {
    const workspace = await service.workspace();
    const projectId = await service.project(workspace);
    const source = await createArticle(service.db, workspace, projectId);
    const first = await create(workspace, source.id, { language: 'es' });
    expect(first.body.job.idempotencyKey.length).toBeGreaterThanOrEqual(8);
    const second = await create(
      workspace,
      source.id,
      { language: 'de' },
      { 'idempotency-key': 'from-header' },
    );
    expect(second.body.job.idempotencyKey).toBe('from-header');
    const third = await create(
      workspace,
      source.id,
      { language: 'de', idempotencyKey: 'from-header' },
      { 'idempotency-key': 'short' },
    );
    expect(third.status).toBe(200);
  });

  // contract.md T4
  it('starts with the categories of the source in their order', async () => {
    const workspace = await service.workspace();
    const projectId = await service.project(workspace);
    const source = await createArticle(service.db, workspace, projectId);
    const categories = [0, 1, 2].map(() => newId<never>());
    for (const id of categories) {
      await service.db
        .insertInto('categories')
        .values({ id, workspace_id: workspace.id, primary_language: 'en' })
        .execute();
    }
    const links = [categories[2], categories[0], categories[1]].flatMap((id, position) =>
      id === undefined
        ? []
        : [{ workspace_id: workspace.id, article_id: source.id, category_id: id, position }],
    );
    await service.db.insertInto('article_categories').values(links).execute();
    const { body } = await create(workspace, source.id, { language: 'es' });
    const copied = await service.db
      .selectFrom('article_categories')
      .select(['category_id', 'position'])
      .where('article_id', '=', body.article.id)
      .orderBy('position')
      .execute();
    expect(copied.map((row) => row.category_id)).toEqual(links.map((row) => row.category_id));
  });

  it('is free for a source with blocks and no words', async () => {
    const workspace = await service.workspace(0);
    const projectId = await service.project(workspace);
    const source = await createArticle(service.db, workspace, projectId, {
      document: { version: 1, blocks: [{ id: 'd', type: 'divider' }] },
    });
    const response = await create(workspace, source.id, { language: 'es' });
    expect(response.status).toBe(202);
    expect(response.body.estimate).toEqual({ words: 0, total: 0 });
  });
});

describe('a replayed idempotency key', () => {
  // contract.md T11
  it('answers 200 with the original job, whatever article or language is asked for', async () => {
    const workspace = await service.workspace();
    const projectId = await service.project(workspace);
    const source = await createArticle(service.db, workspace, projectId);
    const other = await createArticle(service.db, workspace, projectId, { title: 'Another' });
    const first = await create(workspace, source.id, { language: 'es', idempotencyKey: 'the-same-key' });
    for (const [id, language] of [
      [source.id, 'es'],
      [other.id, 'fr'],
      [other.id, 'en'],
    ] as const) {
      const replay = await create(workspace, id, { language, idempotencyKey: 'the-same-key' });
      expect(replay.status).toBe(200);
      expect(replay.body).toEqual({ ...first.body, estimate: null, reused: true });
    }
  });

  it('belongs to its workspace: another one may use the same key', async () => {
    const request = { language: 'es', idempotencyKey: 'everybodys-key' };
    const first = [];
    for (let round = 0; round < 2; round += 1) {
      const workspace = await service.workspace();
      const source = await createArticle(service.db, workspace, await service.project(workspace));
      const { status, body } = await create(workspace, source.id, request);
      expect(status).toBe(202);
      first.push({ workspace, source, body });
    }
    for (const { workspace, source, body } of first) {
      const again = await create(workspace, source.id, request);
      expect([again.status, again.body.job.id, again.body.article.id]).toEqual([
        200,
        body.job.id,
        body.article.id,
      ]);
    }
  });

  it('answers with job and article of one moment, also while the job ends', async () => {
    const workspace = await service.workspace();
    const source = await createArticle(service.db, workspace, await service.project(workspace));
    const request = { language: 'es', idempotencyKey: 'while-it-ends' };
    const { job, article } = (await create(workspace, source.id, request)).body;
    const again = await service.db.transaction().execute(async (tx) => {
      await tx.selectFrom('articles').select('id').where('id', '=', article.id).forUpdate().execute();
      const replay = create(workspace, source.id, request);
      await untilWaiting(service.db, 1);
      await endJob(tx, job.id, {
        status: 'CANCELLED',
        onLeftOver: (_, error) => expect.unreachable(String(error)),
      });
      return { replay };
    });
    const { body } = await again.replay;
    expect([body.job.status, body.article.status]).toEqual(['CANCELLED', 'DRAFT']);
  });
});

describe('races', () => {
  it('ten creates of one language at once: one 202, nine 409, one hold', async () => {
    const workspace = await service.workspace();
    const source = await createArticle(service.db, workspace, await service.project(workspace));
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => create(workspace, source.id, { language: 'es' })),
    );
    expect(answers.map((response) => response.status).sort()).toEqual([202, ...Array(9).fill(409)]);
    expect(await wallet(workspace)).toEqual({ balance: 1000, reserved: 1 });
  });

  // contract.md T13
  it('one idempotency key ten times at once: one 202, nine 200 with the same job', async () => {
    const workspace = await service.workspace();
    const source = await createArticle(service.db, workspace, await service.project(workspace));
    const answers = await Promise.all(
      Array.from({ length: 10 }, () =>
        create(workspace, source.id, { language: 'es', idempotencyKey: 'ten-at-once' }),
      ),
    );
    expect(answers.map((response) => response.status).sort()).toEqual([...Array(9).fill(200), 202]);
    expect(new Set(answers.map((response) => response.body.job.id)).size).toBe(1);
    expect(await wallet(workspace)).toEqual({ balance: 1000, reserved: 1 });
  });

  it('one idempotency key with repeats that come one after another, on a new draft and on one to be reused', async () => {
    for (let round = 0; round < 10; round += 1) {
      const workspace = await service.workspace();
      const source = await createArticle(service.db, workspace, await service.project(workspace));
      if (round % 2 === 1) {
        const first = await create(workspace, source.id, { language: 'es' });
        await service.call(workspace.key, 'POST', `/api/jobs/${first.body.job.id}/cancel`);
      }
      const answers = await Promise.all(
        Array.from({ length: 8 }, async (_, index) => {
          await sleep(index * 3);
          return create(workspace, source.id, { language: 'es', idempotencyKey: 'one-after-another' });
        }),
      );
      expect(answers.map((response) => response.status).sort()).toEqual([...Array(7).fill(200), 202]);
      expect(await wallet(workspace)).toEqual({ balance: 1000, reserved: 1 });
    }
  });

  it('two jobs with credits for one: one 202, one 402', async () => {
    const workspace = await service.workspace(1);
    const source = await createArticle(service.db, workspace, await service.project(workspace));
    const answers = await Promise.all(
      ['es', 'de'].map((language) => create(workspace, source.id, { language })),
    );
    expect(answers.map((response) => response.status).sort()).toEqual([202, 402]);
    expect(await wallet(workspace)).toEqual({ balance: 1, reserved: 1 });
  });
});

describe('the estimate', () => {
  // contract.md T1
  it('tells words, price and wallet, and reserves nothing', async () => {
    const workspace = await service.workspace(1);
    const source = await createArticle(service.db, workspace, await service.project(workspace), {
      document: longDocument(1001),
    });
    const path = `/api/articles/${source.id}/translations/estimate`;
    const response = await service.call(workspace.key, 'GET', `${path}?language=es`);
    expect(response.status).toBe(200);
    expect(response.body).toEqual({
      estimate: { words: 1001, total: 2 },
      wallet: { balance: 1, reserved: 0, available: 1 },
      sufficient: false,
    });
    for (const query of ['', '?language=', '?language=en', '?language=fr', '?language=pt_BR']) {
      const refused = await service.call(workspace.key, 'GET', `${path}${query}`);
      expect(refused.body).toMatchObject({ status: 400, code: 'INVALID_REQUEST' });
      expect(refused.body.errors[0].pointer).toBe('query/language');
    }
  });
});

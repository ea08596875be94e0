import { describe, expect, it } from 'vitest';
import type { ArticleStatus } from '../../src/db/tables.ts';
import type { JobId } from '../../src/ids.ts';
import { setLimits } from '../../src/workspaces/set-limits.ts';
import { documentOf, paragraph } from '../articles/support.ts';
import { config } from '../support/generating.ts';
import { pointers, refusal, settings, useAdmission } from './support/admission.ts';

const { service, calls, workspace, project, editor, moveIn, request, everything, emptyDraft, outlined } =
  useAdmission();

describe('an estimate', () => {
  const estimate = (generationConfig: unknown) =>
    service.call(workspace.key, 'POST', `/api/projects/${project.id}/generation/estimate`, {
      generationConfig,
    });

  // contract.md G1
  it('is what the run would hold, and both runs of one that stops for its outline; nothing is reserved', async () => {
    const price = { text: 4, images: 9, imageCount: 3, research: 0, factChecking: 0, total: 13 };
    const generous = { topic: 'Gardens', wordCount: 1_500, imageQuality: 'hd', researchEnabled: true };
    const before = await everything();
    expect((await estimate(generous)).body).toEqual({
      estimate: price,
      whole: price,
      wallet: { balance: 10, reserved: 0, available: 10 },
      sufficient: false,
    });
    const free = { text: 0, images: 0, imageCount: 0, research: 0, factChecking: 0, total: 0 };
    expect((await estimate({ ...generous, reviewOutline: true })).body).toMatchObject({
      estimate: free,
      whole: price,
      sufficient: true,
    });
    expect(await everything()).toEqual(before);
  });

  it('names what is wrong with the settings by pointer', async () => {
    expect(pointers(await estimate({ wordCount: 100, imageCount: 21 }))).toEqual([
      '/generationConfig/topic',
      '/generationConfig/wordCount',
      '/generationConfig/imageCount',
    ]);
  });
});

describe('a new article', () => {
  // contract.md G2
  it('is queued with its settings, and both events, the audit entry and the hold are there with it', async () => {
    const answer = await request({ ...settings({ tone: 'calm' }), idempotencyKey: 'garden-0001' });
    expect(answer.status).toBe(202);
    const { article, job, ...rest } = answer.body;
    expect(rest).toEqual({
      estimate: { text: 1, images: 1, imageCount: 1, research: 0, factChecking: 0, total: 2 },
      reused: false,
    });
    expect(article).toMatchObject({
      title: config.topic,
      slug: 'a-garden-in-spring',
      status: 'QUEUED',
      documentJson: documentOf(),
      contentHtml: null,
      primaryLanguage: 'en',
      outline: null,
      wordCount: 0,
      generationConfig: {
        ...config,
        tone: 'calm',
        language: 'en',
        secondaryKeywords: [],
        imageStyle: 'editorial',
        imageQuality: 'standard',
        researchEnabled: false,
        reviewOutline: false,
        faq: false,
      },
    });
    expect(job).toMatchObject({
      articleId: article.id,
      kind: 'generation',
      status: 'QUEUED',
      currentStep: null,
      progress: 0,
      idempotencyKey: 'garden-0001',
      estimatedCredits: 2,
      reservedCredits: 2,
      consumedCredits: 0,
    });
    expect(await calls.events(article.id)).toEqual([
      {
        event: 'article.created',
        data: { articleId: article.id, projectId: project.id, title: config.topic },
      },
      {
        event: 'article.generation.started',
        data: { articleId: article.id, jobId: job.id, estimatedCredits: 2 },
      },
    ]);
    expect(await editor.auditActions(article.id)).toEqual(['generation.requested']);
    expect(await calls.readWallet(workspace)).toEqual({ balance: 10, reserved: 2, available: 8 });
  });

  // contract.md G3
  it('has a given title, or the topic cut to 300 characters, in a language of the project', async () => {
    const titled = await request({ title: 'My own', language: 'es' });
    expect(titled.body.article).toMatchObject({ title: 'My own', slug: 'my-own', primaryLanguage: 'es' });
    const long = await request(settings({ topic: `${'😀'.repeat(299)} ${'x'.repeat(200)}` }));
    expect(long.body.article.title).toBe('😀'.repeat(299));
    expect(pointers(await request({ language: 'fr' }))).toEqual(['/language']);
    expect((await request({ title: ' ' })).status).toBe(400);
  });

  // contract.md G3
  it('is warned about when its text is to be in another language', async () => {
    const answer = await request(settings({ language: 'de' }));
    expect(answer.body.article.primaryLanguage).toBe('en');
    expect(answer.body.warnings).toEqual([{ code: 'language_differs', message: expect.any(String) }]);
    expect(
      (await request({ ...settings({ language: 'de' }), language: 'de' })).body.warnings,
    ).toBeUndefined();
  });

  // contract.md G4
  it('is made once for a key, which is answered with the job and the article as they are now', async () => {
    const first = await request({ idempotencyKey: 'garden-0002' });
    await calls.cancel(workspace, first.body.job.id);
    const before = await everything();
    for (const again of [
      await calls.request(workspace, project.id, settings({ topic: 'Other' }), {
        'idempotency-key': 'garden-0002',
      }),
      await calls.draft(workspace, first.body.article.id, { idempotencyKey: 'garden-0002' }),
    ]) {
      expect(again.status).toBe(200);
      expect(again.body).toEqual({
        article: await calls.readArticle(workspace, first.body.article.id),
        job: { ...first.body.job, status: 'CANCELLED' },
        estimate: null,
        reused: true,
      });
    }
    expect(await everything()).toEqual(before);
    const [one, other] = [await request(), await request()];
    expect([one.status, other.status]).toEqual([202, 202]);
    expect(one.body.article.id).not.toBe(other.body.article.id);
  });

  // contract.md G4
  it('of one key sent eight times at once is made once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => request({ idempotencyKey: 'garden-0003' })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(7).fill(200), 202]);
    expect(new Set(answers.map(({ body }) => body.job.id)).size).toBe(1);
    expect(await calls.readWallet(workspace)).toEqual({ balance: 10, reserved: 2, available: 8 });
  });

  // contract.md G5
  it('of fifty at once on credits for ten exactly ten are made, and the others leave nothing behind', async () => {
    await moveIn(20);
    const answers = await Promise.all(Array.from({ length: 50 }, () => request()));
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(10);
    const refused = answers.filter(({ status }) => status !== 202);
    expect(new Set(refused.map(({ status, body }) => `${status} ${body.code}`))).toEqual(
      new Set(['402 INSUFFICIENT_CREDITS']),
    );
    expect(await everything()).toMatchObject({
      counts: [
        ['articles', 10],
        ['jobs', 10],
        ['holds', 10],
        ['generations', 10],
        ['events', 20],
        ['audit_entries', expect.any(Number)],
      ],
      wallet: { balance: 20, reserved: 20, available: 0 },
    });
  });

  // contract.md G5
  it('is refused with 402 or 429, and nothing is left behind', async () => {
    await moveIn(1);
    await setLimits(workspace.context, { aiOperations: 1 });
    const first = await everything();
    expect(refusal(await request())).toEqual([402, 'INSUFFICIENT_CREDITS', undefined]);
    expect(await everything()).toEqual(first);
    const outline = settings({ reviewOutline: true });
    expect((await request(outline)).status).toBe(202);
    const second = await everything();
    expect(refusal(await request(outline))).toEqual([429, 'QUOTA_EXCEEDED', undefined]);
    expect(await everything()).toEqual(second);
  });
});

describe('a run that stops for its outline', () => {
  // contract.md G11
  it('holds nothing, and counts as one AI operation of the month unless it is ended before a model is asked', async () => {
    const { job, estimate } = (await request(settings({ reviewOutline: true }))).body;
    expect(job).toMatchObject({ estimatedCredits: 0, reservedCredits: 0 });
    expect(estimate.total).toBe(0);
    expect((await everything()).used).toBe(1);
    await calls.cancel(workspace, job.id);
    expect((await everything()).used).toBe(0);
    const { job: asked } = (await request(settings({ reviewOutline: true }))).body;
    await service.db
      .updateTable('jobs')
      .set({ status: 'OUTLINING', current_step: 'outline' })
      .where('id', '=', asked.id as JobId)
      .execute();
    await calls.cancel(workspace, asked.id);
    expect((await everything()).used).toBe(1);
    expect((await request()).status).toBe(202);
    expect((await everything()).used).toBe(1);
  });
});

describe('a draft', () => {
  // contract.md G6
  it('without content is generated with new settings, or with those it has; its title stays', async () => {
    const { id } = await emptyDraft({ title: 'By hand' });
    const without = await calls.draft(workspace, id);
    expect([without.status, pointers(without)]).toEqual([400, ['/generationConfig']]);
    const first = await calls.draft(workspace, id, settings({ language: 'de' }));
    expect(first.body).toMatchObject({
      article: { id, title: 'By hand', status: 'QUEUED' },
      reused: false,
      warnings: [{ code: 'language_differs' }],
    });
    expect(refusal(await calls.draft(workspace, id))).toEqual([409, 'CONFLICT', 'job_running']);
    await calls.cancel(workspace, first.body.job.id);
    const second = await calls.draft(workspace, id);
    expect([second.status, second.body.article.generationConfig.language]).toEqual([202, 'de']);
    expect(await calls.eventTypes(id)).toEqual([
      'article.created',
      'article.generation.started',
      'article.generation.started',
    ]);
  });

  // contract.md G6
  it('of two requests at once is generated by one', async () => {
    const { id } = await emptyDraft();
    const answers = await Promise.all([
      calls.draft(workspace, id, settings({})),
      calls.draft(workspace, id, settings({})),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409]);
    expect(await calls.readWallet(workspace)).toEqual({ balance: 10, reserved: 2, available: 8 });
  });

  // contract.md G8
  it('with an outline that somebody has edited is generated anew only with replaceOutline', async () => {
    const { article, outline, etag } = await outlined();
    const { id } = article;
    const changed = { ...outline, title: 'Sowing early' };
    expect((await calls.saveOutline(workspace, id, changed, etag)).status).toBe(200);
    expect(refusal(await calls.draft(workspace, id))).toEqual([409, 'CONFLICT', 'outline_edited']);
    expect((await calls.draft(workspace, id, { replaceOutline: true })).status).toBe(202);
  });
});

describe('an article with content is never generated', () => {
  const content = documentOf(paragraph('Written by hand.'));
  const attempts = async (id: string) => [
    refusal(await calls.draft(workspace, id, settings({}))),
    refusal(await calls.draft(workspace, id, { ...settings({}), replaceOutline: true })),
  ];
  const hasContent = [409, 'CONFLICT', 'has_content'];

  it.each(['DRAFT', 'NEEDS_REVIEW', 'CHANGES_REQUESTED', 'APPROVED', 'PUBLISHED'] as const)(
    'not in %s',
    async (status: ArticleStatus) => {
      const { id } = await editor.create(project.id, { documentJson: content });
      await editor.setStatus(id, status);
      const before = await everything();
      expect(await attempts(id)).toEqual([hasContent, hasContent]);
      expect(await everything()).toEqual(before);
      expect(await editor.read(id)).toMatchObject({ status, documentJson: content });
    },
  );

  // contract.md G7
  it('not once it is unpublished, nor its outline edited or approved', async () => {
    const { id } = await editor.published(project.id, { documentJson: content });
    await editor.unpublish(id);
    expect(await attempts(id)).toEqual([hasContent, hasContent]);
    const { article, outline, etag } = await outlined();
    await editor.patch(article.id, { documentJson: content });
    expect(refusal(await calls.approve(workspace, article.id, etag))).toEqual(hasContent);
    expect(refusal(await calls.saveOutline(workspace, article.id, outline, etag))).toEqual(hasContent);
  });

  // contract.md G7
  it('and without content only as a DRAFT', async () => {
    for (const status of ['NEEDS_REVIEW', 'CHANGES_REQUESTED', 'APPROVED', 'PUBLISHED'] as const) {
      const { id } = await emptyDraft();
      await editor.setStatus(id, status);
      expect((await attempts(id))[0]).toEqual([409, 'CONFLICT', 'status']);
    }
  });
});

it('words of runs that the customer cancelled count, and a new run is 429 above the limit', async () => {
  const { job } = (await request()).body;
  await service.db
    .insertInto('generation_parts')
    .values([
      { job_id: job.id, part: 0, kind: 'outline', words: 300, asked: true },
      { job_id: job.id, part: 1, kind: 'section', words: 201, asked: true, content: '{}' },
      { job_id: job.id, part: 2, kind: 'section', words: 900 },
    ])
    .execute();
  await calls.cancel(workspace, job.id);
  const before = await everything();
  const refused = await request();
  expect(refusal(refused)).toEqual([429, 'QUOTA_EXCEEDED', 'cancelled_work']);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await everything()).toEqual(before);
});

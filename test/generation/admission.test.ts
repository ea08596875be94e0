import { beforeEach, describe, expect, it } from 'vitest';
import type { ArticleStatus } from '../../src/db/tables.ts';
import type { ArticleId, JobId, ProjectId } from '../../src/ids.ts';
import { setQuota } from '../../src/workspaces/set-quota.ts';
import { documentOf, type Editing, editing, paragraph } from '../articles/support.ts';
import { listenToAll } from '../support/events.ts';
import { config, generating } from '../support/generating.ts';
import { type Answer, type TestWorkspace, useTestService } from '../support/service.ts';

// Without a worker: what is admitted stays queued.
const service = useTestService({ UNBILLED_LIMIT_WORDS: '500' });
const calls = generating(service);
let workspace: TestWorkspace;
let projectId: ProjectId;
let editor: Editing;

const moveIn = async (credits: number) => {
  workspace = await service.workspace(credits);
  projectId = await service.project(workspace);
  editor = editing(service, workspace);
  await listenToAll(service.db, workspace.id);
};
beforeEach(() => moveIn(10));

const request = (body?: Record<string, unknown>) => calls.request(workspace, projectId, body);
const settings = (more: Record<string, unknown>) => ({ generationConfig: { ...config, ...more } });
const refusal = ({ status, body }: Answer) => [status, body.code, body.details?.reason];
const pointers = ({ body }: Answer) => body.errors?.map(({ pointer }: { pointer: string }) => pointer);

/** What the workspace has: a refused request leaves it as it was. */
const everything = async () => {
  const count = (table: 'articles' | 'jobs' | 'holds' | 'generations' | 'events' | 'audit_entries') =>
    service.db
      .selectFrom(table)
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('workspace_id', '=', workspace.id)
      .executeTakeFirstOrThrow();
  const tables = ['articles', 'jobs', 'holds', 'generations', 'events', 'audit_entries'] as const;
  const counts = [];
  for (const table of tables) counts.push([table, (await count(table)).count]);
  const usage = await service.db
    .selectFrom('ai_operation_usage')
    .select('used')
    .where('workspace_id', '=', workspace.id)
    .executeTakeFirst();
  return { counts, used: usage?.used ?? 0, wallet: await calls.readWallet(workspace) };
};

/** An empty draft that a person has made. */
const emptyDraft = (body: Record<string, unknown> = {}) =>
  editor.create(projectId, { documentJson: documentOf(), ...body });

/** An article whose outline run has ended, as its workflow leaves it. */
async function outlined(more: Record<string, unknown> = {}) {
  const { article, job } = (await request(settings({ reviewOutline: true, ...more }))).body;
  const outline = {
    title: 'Sowing',
    slug: 'sowing',
    metaTitle: 'Sowing',
    metaDescription: 'When to sow.',
    sections: [
      { id: 'a', heading: 'Soil', level: 2, purpose: 'Warm soil.', keywords: [], estimatedWords: 600 },
    ],
  };
  expect((await service.call(workspace.key, 'POST', `/api/jobs/${job.id}/cancel`)).status).toBe(202);
  await service.db
    .updateTable('articles')
    .set({ outline: JSON.stringify(outline) })
    .where('id', '=', article.id as ArticleId)
    .execute();
  return { article, ...(await calls.outline(workspace, article.id)) };
}

describe('an estimate', () => {
  const estimate = (generationConfig: unknown) =>
    service.call(workspace.key, 'POST', `/api/projects/${projectId}/generation/estimate`, {
      generationConfig,
    });

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
      { event: 'article.created', data: { articleId: article.id, projectId, title: config.topic } },
      {
        event: 'article.generation.started',
        data: { articleId: article.id, jobId: job.id, estimatedCredits: 2 },
      },
    ]);
    expect(await editor.auditActions(article.id)).toEqual(['generation.requested']);
    expect(await calls.readWallet(workspace)).toEqual({ balance: 10, reserved: 2, available: 8 });
  });

  it('has a given title, or the topic cut to 300 characters, in a language of the project', async () => {
    const titled = await request({ title: 'My own', language: 'es' });
    expect(titled.body.article).toMatchObject({ title: 'My own', slug: 'my-own', primaryLanguage: 'es' });
    const long = await request(settings({ topic: `${'😀'.repeat(299)} ${'x'.repeat(200)}` }));
    expect(long.body.article.title).toBe('😀'.repeat(299));
    expect(pointers(await request({ language: 'fr' }))).toEqual(['/language']);
    expect((await request({ title: ' ' })).status).toBe(400);
  });

  it('is warned about when its text is to be in another language', async () => {
    const answer = await request(settings({ language: 'de' }));
    expect(answer.body.article.primaryLanguage).toBe('en');
    expect(answer.body.warnings).toEqual([{ code: 'language_differs', message: expect.any(String) }]);
    expect(
      (await request({ ...settings({ language: 'de' }), language: 'de' })).body.warnings,
    ).toBeUndefined();
  });

  it('is made once for a key, which is answered with the job and the article as they are now', async () => {
    const first = await request({ idempotencyKey: 'garden-0002' });
    await calls.cancel(workspace, first.body.job.id);
    const before = await everything();
    for (const again of [
      await calls.request(workspace, projectId, settings({ topic: 'Other' }), {
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

  it('of one key sent eight times at once is made once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => request({ idempotencyKey: 'garden-0003' })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(7).fill(200), 202]);
    expect(new Set(answers.map(({ body }) => body.job.id)).size).toBe(1);
    expect(await calls.readWallet(workspace)).toEqual({ balance: 10, reserved: 2, available: 8 });
  });

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

  it('is refused with 402 or 429, and nothing is left behind', async () => {
    await moveIn(1);
    await setQuota(workspace.context, { aiOperations: 1 });
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

  it('of two requests at once is generated by one', async () => {
    const { id } = await emptyDraft();
    const answers = await Promise.all([
      calls.draft(workspace, id, settings({})),
      calls.draft(workspace, id, settings({})),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409]);
    expect(await calls.readWallet(workspace)).toEqual({ balance: 10, reserved: 2, available: 8 });
  });

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
      const { id } = await editor.create(projectId, { documentJson: content });
      await editor.setStatus(id, status);
      const before = await everything();
      expect(await attempts(id)).toEqual([hasContent, hasContent]);
      expect(await everything()).toEqual(before);
      expect(await editor.read(id)).toMatchObject({ status, documentJson: content });
    },
  );

  it('not once it is unpublished, nor its outline edited or approved', async () => {
    const { id } = await editor.published(projectId, { documentJson: content });
    await editor.unpublish(id);
    expect(await attempts(id)).toEqual([hasContent, hasContent]);
    const { article, outline, etag } = await outlined();
    await editor.patch(article.id, { documentJson: content });
    expect(refusal(await calls.approve(workspace, article.id, etag))).toEqual(hasContent);
    expect(refusal(await calls.saveOutline(workspace, article.id, outline, etag))).toEqual(hasContent);
  });

  it('and without content only as a DRAFT', async () => {
    for (const status of ['NEEDS_REVIEW', 'CHANGES_REQUESTED', 'APPROVED', 'PUBLISHED'] as const) {
      const { id } = await emptyDraft();
      await editor.setStatus(id, status);
      expect((await attempts(id))[0]).toEqual([409, 'CONFLICT', 'status']);
    }
  });
});

describe('an outline', () => {
  it('is 404 for an article that has none, whatever is asked of it', async () => {
    const { id } = await emptyDraft();
    const { outline } = await outlined();
    const path = `/api/articles/${id}/outline`;
    expect((await service.call(workspace.key, 'GET', path)).status).toBe(404);
    expect((await calls.saveOutline(workspace, id, outline)).status).toBe(404);
    expect((await calls.approve(workspace, id, '"x"')).status).toBe(404);
  });

  it('is read with a tag, changed on the version that was read, and logged', async () => {
    const { article, outline, edited, etag } = await outlined();
    const { id } = article;
    expect(edited).toBe(false);
    const same = await calls.saveOutline(workspace, id, outline, etag);
    expect([same.status, same.body.edited, same.headers.get('etag')]).toEqual([200, false, etag]);
    const changed = { ...outline, sections: [{ ...outline.sections[0], heading: 'Warm soil' }] };
    const saved = await calls.saveOutline(workspace, id, changed, etag);
    expect([saved.status, saved.body.edited]).toEqual([200, true]);
    expect(saved.body.outline).toEqual(changed);
    expect((await calls.saveOutline(workspace, id, outline, etag)).status).toBe(412);
    expect((await editor.read(id)).outline).toEqual(changed);
    expect(await calls.outline(workspace, id)).toMatchObject({
      outline: changed,
      edited: true,
      etag: saved.headers.get('etag'),
    });
    expect(await editor.auditActions(id)).toEqual(['generation.requested', 'generation.outline_updated']);
  });

  it('names what is wrong with it by pointer', async () => {
    const { article, outline } = await outlined();
    const section = { ...outline.sections[0], level: 1, estimatedWords: 10, keywords: [''] };
    const wrong = { ...outline, slug: 'Not a slug', metaTitle: 'x'.repeat(71), sections: [section] };
    expect(pointers(await calls.saveOutline(workspace, article.id, wrong))).toEqual([
      '/outline/slug',
      '/outline/metaTitle',
      '/outline/sections/0/level',
      '/outline/sections/0/keywords/0',
      '/outline/sections/0/estimatedWords',
    ]);
  });

  it('has a section at most for every 60 words of the article that it is for', async () => {
    const { article, outline } = await outlined();
    const sections = (count: number) =>
      Array.from({ length: count }, (_, index) => ({ ...outline.sections[0], id: `part-${index}` }));
    const most = Math.ceil(Number(article.generationConfig?.wordCount) / 60);
    const save = (count: number) =>
      calls.saveOutline(workspace, article.id, { ...outline, sections: sections(count) });
    expect((await save(most)).status).toBe(200);
    expect(pointers(await save(most + 1))).toEqual(['/outline/sections']);
    const shorter = { replaceOutline: true, ...settings({ wordCount: 200 }) };
    const { job } = (await calls.draft(workspace, article.id, shorter)).body;
    await calls.cancel(workspace, job.id);
    const { etag } = await calls.outline(workspace, article.id);
    expect((await calls.approve(workspace, article.id, etag)).status).toBe(400);
  });

  it('has a section at least for every 2,000 words, whether it is edited or approved', async () => {
    const { article, outline, etag } = await outlined({ wordCount: 10_000 });
    const before = await everything();
    const refused = await calls.approve(workspace, article.id, etag);
    expect([refused.status, pointers(refused)]).toEqual([400, ['/outline/sections']]);
    expect(await everything()).toEqual(before);
    const save = (count: number) =>
      calls.saveOutline(workspace, article.id, {
        ...outline,
        sections: Array.from({ length: count }, (_, index) => ({
          ...outline.sections[0],
          id: `part-${index}`,
        })),
      });
    const few = await save(4);
    expect([few.status, pointers(few)]).toEqual([400, ['/outline/sections']]);
    expect((await save(5)).status).toBe(200);
  });

  it('is not approved nor edited with a tag from before other settings were asked for, though that run ended', async () => {
    const { article, outline, etag } = await outlined();
    const { id } = article;
    const { job } = (await calls.draft(workspace, id, settings({ topic: 'Quantum dogs', wordCount: 5_000 })))
      .body;
    await calls.cancel(workspace, job.id);
    const before = await everything();
    expect((await calls.approve(workspace, id, etag)).status).toBe(412);
    expect((await calls.saveOutline(workspace, id, { ...outline, title: 'Moved' }, etag)).status).toBe(412);
    expect(await everything()).toEqual(before);
  });

  it('is approved as it was read: not without its tag, and not once it has moved', async () => {
    const { article, outline, etag } = await outlined();
    const { id } = article;
    for (const tag of [undefined, '*', 'no tag']) {
      const refused = await calls.approve(workspace, id, tag);
      expect([refused.status, pointers(refused)]).toEqual([400, ['header/If-Match']]);
    }
    await calls.saveOutline(workspace, id, { ...outline, title: 'Moved' });
    const before = await everything();
    expect((await calls.approve(workspace, id, etag)).status).toBe(412);
    expect(await everything()).toEqual(before);
    const { etag: now } = await calls.outline(workspace, id);
    const approved = await calls.approve(workspace, id, now, { idempotencyKey: 'approve-0001' });
    expect(approved.status).toBe(202);
    expect(approved.body).toMatchObject({
      article: { id, status: 'QUEUED', generationConfig: { reviewOutline: true } },
      job: { estimatedCredits: 2 },
      estimate: { text: 1, images: 1, total: 2 },
      reused: false,
    });
    expect((await calls.approve(workspace, id, etag, { idempotencyKey: 'approve-0001' })).body).toMatchObject(
      {
        job: { id: approved.body.job.id },
        estimate: null,
        reused: true,
      },
    );
    expect(refusal(await calls.approve(workspace, id, now))).toEqual([409, 'CONFLICT', 'job_running']);
    expect(refusal(await calls.saveOutline(workspace, id, outline))).toEqual([
      409,
      'CONFLICT',
      'job_running',
    ]);
    expect(await editor.auditActions(id)).toContain('generation.outline_approved');
    expect((await calls.eventTypes(id)).slice(-1)).toEqual(['article.generation.started']);
  });

  it('is approved or edited by one of two who do it at once', async () => {
    const { article, outline, etag } = await outlined();
    const edit = { ...outline, title: 'Edited' };
    const [approved, saved] = await Promise.all([
      calls.approve(workspace, article.id, etag),
      calls.saveOutline(workspace, article.id, edit, etag),
    ]);
    const statuses = [approved.status, saved.status];
    expect([
      [202, 409],
      [412, 200],
    ]).toContainEqual(statuses);
  });

  it('is not approved without the credits, and nothing is left behind', async () => {
    await moveIn(1);
    const { article, etag } = await outlined();
    const before = await everything();
    expect((await calls.approve(workspace, article.id, etag)).status).toBe(402);
    expect(await everything()).toEqual(before);
    expect(await editor.read(article.id)).toMatchObject({ status: 'DRAFT' });
  });
});

it('words of runs that the customer cancelled count, and a new run is 429 above the limit', async () => {
  const { job } = (await request()).body;
  await service.db
    .insertInto('generation_parts')
    .values([
      { job_id: job.id, part: 0, words: 300, asked: true },
      { job_id: job.id, part: 1, words: 201, asked: true, content: '{}' },
      { job_id: job.id, part: 2, words: 900 },
    ])
    .execute();
  await calls.cancel(workspace, job.id);
  const before = await everything();
  const refused = await request();
  expect(refusal(refused)).toEqual([429, 'QUOTA_EXCEEDED', undefined]);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await everything()).toEqual(before);
});

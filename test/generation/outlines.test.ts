import { describe, expect, it } from 'vitest';
import { pointers, refusal, settings, useAdmission } from './support/admission.ts';

const { service, calls, workspace, project, editor, moveIn, everything, emptyDraft, outlined } =
  useAdmission();

describe('an outline', () => {
  it('is 404 for an article that has none, whatever is asked of it', async () => {
    const { id } = await emptyDraft();
    const { outline } = await outlined();
    const path = `/api/articles/${id}/outline`;
    expect((await service.call(workspace.key, 'GET', path)).status).toBe(404);
    expect((await calls.saveOutline(workspace, id, outline)).status).toBe(404);
    expect((await calls.approve(workspace, id, '"x"')).status).toBe(404);
  });

  // contract.md G9
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

  // contract.md G62
  it('has up to 40 sections when a person wrote it, however short the article is', async () => {
    const { article, outline } = await outlined({ wordCount: 1_200 });
    const save = (count: number) =>
      calls.saveOutline(workspace, article.id, {
        ...outline,
        sections: Array.from({ length: count }, (_, index) => ({
          ...outline.sections[0],
          id: `part-${index}`,
        })),
      });
    for (const count of [21, 40]) expect((await save(count)).status).toBe(200);
    expect(pointers(await save(41))).toEqual(['/outline/sections']);
    const shorter = { replaceOutline: true, ...settings({ wordCount: 200 }) };
    const { job } = (await calls.draft(workspace, article.id, shorter)).body;
    await calls.cancel(workspace, job.id);
    const { etag } = await calls.outline(workspace, article.id);
    expect((await calls.approve(workspace, article.id, etag)).status).toBe(202);
  });

  // contract.md G33
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

  // contract.md G10
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

  // contract.md G10
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

it('what another workspace has is found by nobody, whatever is asked of it, and its keys are free', async () => {
  const { article, outline, etag } = await outlined();
  const approval = { idempotencyKey: 'garden-0004' };
  const { job } = (await calls.approve(workspace, article.id, etag, approval)).body;
  const before = await everything();
  const stranger = await service.workspace(10);
  const ask = (method: string, path: string, body?: unknown) =>
    service.call(stranger.key, method, path, body);
  const answers = await Promise.all([
    ask('GET', `/api/articles/${article.id}/outline`),
    calls.saveOutline(stranger, article.id, outline),
    calls.approve(stranger, article.id, etag),
    calls.draft(stranger, article.id, settings({})),
    calls.request(stranger, project.id),
    ask('POST', `/api/projects/${project.id}/generation/estimate`, settings({})),
    ask('GET', `/api/jobs/${job.id}`),
    ask('GET', `/api/jobs/${job.id}/report`),
    ask('POST', `/api/jobs/${job.id}/cancel`),
  ]);
  expect(answers.map(refusal)).toEqual(answers.map(() => [404, 'RESOURCE_NOT_FOUND', undefined]));
  const same = await calls.request(stranger, await service.project(stranger), approval);
  expect([same.status, same.body.job.id === job.id]).toEqual([202, false]);
  expect(await everything()).toEqual(before);
});

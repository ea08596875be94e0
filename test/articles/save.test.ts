import { beforeAll, expect, it } from 'vitest';
import type { Article } from '../../src/articles/schemas.ts';
import { RENDERER } from '../../src/document/render/shared.ts';
import type { ArticleId, ProjectId } from '../../src/ids.ts';
import { listenToAll } from '../support/events.ts';
import { type TestWorkspace, useTestService } from '../support/service.ts';
import { documentOf, type Editing, editing, paragraph } from './support.ts';

const service = useTestService();

let workspace: TestWorkspace;
let projectId: ProjectId;
let editor: Editing;

beforeAll(async () => {
  workspace = await service.workspace();
  await listenToAll(service.db, workspace.id);
  projectId = await service.project(workspace);
  editor = editing(service, workspace);
});

const lastEvent = async (id: string) => (await editor.events(id)).at(-1);

// contract.md E2, R7 and R11
it('creates a DRAFT, rendered and counted, in a group of its own, and tells article.created', async () => {
  const response = await editor.call('POST', `/api/projects/${projectId}/articles`, {
    title: '  Im Fruhling: Cafe\u0301 ',
    primaryLanguage: 'DE',
    documentJson: documentOf({ id: 'a', type: 'paragraph', text: 'Zwei **Worte**', format: 'markdown' }),
    metaTitle: 'Meta',
    targetKeywords: ['eins', ' zwei '],
  });
  expect(response.status).toBe(201);
  const article: Article = response.body.article;
  expect(article).toEqual({
    id: expect.any(String),
    workspaceId: workspace.id,
    projectId,
    title: 'Im Fruhling: Café',
    slug: 'im-fruhling-cafe',
    status: 'DRAFT',
    documentJson: documentOf({ id: 'a', type: 'paragraph', text: 'Zwei **Worte**', format: 'markdown' }),
    contentHtml: '<p>Zwei <strong>Worte</strong></p>',
    contentMarkdown: expect.stringContaining('Zwei **Worte**'),
    metaTitle: 'Meta',
    metaDescription: null,
    targetKeywords: ['eins', 'zwei'],
    secondaryKeywords: [],
    primaryLanguage: 'de',
    translationGroupId: expect.any(String),
    generationConfig: null,
    outline: null,
    createdBy: null,
    publishedAt: null,
    briefId: null,
    publishedUrl: null,
    wordCount: 2,
    createdAt: expect.any(String),
    updatedAt: expect.any(String),
    contentTag: expect.any(String),
  });
  const read = await editor.call('GET', `/api/articles/${article.id}`);
  expect(read.body.article).toEqual(article);
  expect(read.headers.get('etag')).toBe(response.headers.get('etag'));
  expect(await editor.events(article.id)).toEqual([
    { event: 'article.created', data: { articleId: article.id, projectId, title: 'Im Fruhling: Café' } },
  ]);
  expect(await editor.auditActions(article.id)).toEqual(['articles.created']);

  const bare = await editor.call('POST', `/api/projects/${projectId}/articles`, { title: '日本語' });
  expect(bare.body.article).toMatchObject({
    primaryLanguage: 'en',
    slug: 'article',
    contentHtml: '',
    wordCount: 0,
    documentJson: documentOf(),
  });
});

// contract.md R3
it('renders the body on every save and again when it is published', async () => {
  const { id } = await editor.create(projectId, { title: 'Rendered' });
  const saved = await editor.patch(id, { documentJson: documentOf(paragraph('Saved words')) });
  expect(saved.body.article).toMatchObject({
    contentHtml: '<p>Saved words</p>',
    contentMarkdown: expect.stringContaining('Saved words'),
  });
  await editor.submit(id);
  await editor.review(id, 'approved');
  const storeRendering = (words: string, rendered_by: number) =>
    service.db
      .updateTable('articles')
      .set({ content_html: `<p>${words}</p>`, content_markdown: words, rendered_by })
      .where('id', '=', id as ArticleId)
      .execute();
  // As an earlier release would have rendered it.
  const tag = async () => (await editor.call('GET', `/api/articles/${id}`)).headers.get('etag');
  const before = await tag();
  await storeRendering('old', RENDERER - 1);
  expect(await tag()).not.toBe(before);
  const { contentHtml, contentMarkdown } = saved.body.article;
  expect((await editor.publish(id)).body.article).toMatchObject({ contentHtml, contentMarkdown });
  expect(await editor.read(id)).toMatchObject({ status: 'PUBLISHED', contentHtml, contentMarkdown });

  // What this release has rendered would come out equal, and is taken as it is.
  await editor.unpublish(id);
  await editor.submit(id);
  await editor.review(id, 'approved');
  await storeRendering('equal', RENDERER);
  expect((await editor.publish(id)).body.article).toMatchObject({ contentHtml: '<p>equal</p>' });
});

it('refuses bad input naming the field, and leaves nothing behind', async () => {
  const count = async () => (await service.db.selectFrom('articles').select('id').execute()).length;
  const before = await count();
  const block = paragraph('x');
  const bad: [Record<string, unknown>, string][] = [
    [{ title: ' ' }, '/title'],
    [{ title: 'x'.repeat(301) }, '/title'],
    [{ title: 'A', primaryLanguage: 'fr' }, '/primaryLanguage'],
    [{ title: 'A', primaryLanguage: 'no tag' }, '/primaryLanguage'],
    [{ title: 'A', slug: 'Not A Slug' }, '/slug'],
    [{ title: 'A', slug: `a${'-b'.repeat(60)}` }, '/slug'],
    [{ title: 'A', metaTitle: 'x'.repeat(71) }, '/metaTitle'],
    [{ title: 'A', targetKeywords: ['ok', ' '] }, '/targetKeywords/1'],
    [{ title: 'A', documentJson: { version: 2, blocks: [] } }, '/documentJson/version'],
    [{ title: 'A', documentJson: documentOf({ ...block, type: 'video' }) }, '/documentJson/blocks/0/type'],
    [{ title: 'A', documentJson: documentOf(block, block) }, '/documentJson/blocks/1/id'],
    [{}, '/title'],
  ];
  for (const [body, pointer] of bad) {
    const response = await editor.call('POST', `/api/projects/${projectId}/articles`, body);
    expect([response.status, response.body.errors?.[0]?.pointer]).toEqual([400, pointer]);
  }
  expect(await count()).toBe(before);
});

it('two editors who save at once: one 200, one 412, and nothing is lost', async () => {
  const { id } = await editor.create(projectId);
  for (let round = 0; round < 20; round += 1) {
    const etag = (await editor.call('GET', `/api/articles/${id}`)).headers.get('etag') ?? '';
    const answers = await Promise.all([
      editor.patch(id, { title: `Ann ${round}` }, etag),
      editor.patch(id, { metaDescription: `Ben ${round}` }, etag),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412]);
    const loser = answers.findIndex(({ status }) => status === 412);
    expect(answers[loser]?.body.code).toBe('PRECONDITION_FAILED');
    const fresh = (await editor.call('GET', `/api/articles/${id}`)).headers.get('etag') ?? '';
    expect(fresh).toBe(answers[1 - loser]?.headers.get('etag'));
    const again = loser === 0 ? { title: `Ann ${round}` } : { metaDescription: `Ben ${round}` };
    expect((await editor.patch(id, again, `"other", ${fresh}`)).status).toBe(200);
    expect(await editor.read(id)).toMatchObject({
      title: `Ann ${round}`,
      metaDescription: `Ben ${round}`,
    });
  }
  expect((await editor.patch(id, { title: 'Any' }, '*')).status).toBe(200);
  const { headers } = await editor.call('GET', `/api/articles/${id}`);
  expect((await editor.patch(id, { title: 'Weak' }, `W/${headers.get('etag')}`)).status).toBe(412);
  expect((await editor.patch(id, { title: 'Other' }, '"a,b", , "c"')).status).toBe(412);
  expect((await editor.patch(id, { title: 'One' }, `, "a,b" ,${headers.get('etag')}`)).status).toBe(200);
  for (const bad of ['no tag', '"open', '"a", "', '"a" "b"', ', ,', '*, "a"']) {
    expect((await editor.patch(id, { title: 'None' }, bad)).body.errors[0].pointer, bad).toBe(
      'header/If-Match',
    );
  }
});

// contract.md E3 and E4
it('a PUBLISHED article tells exactly the fields that a save changed, and nothing when it changed none', async () => {
  const article = await editor.published(projectId, { title: 'Exactly', metaTitle: 'Old' });
  const { id } = article;
  const set = {
    articleId: id,
    workspaceId: workspace.id,
    projectId,
    slug: 'exactly',
    status: 'PUBLISHED',
    primaryLanguage: 'en',
    translationGroupId: article.translationGroupId,
    title: 'Exactly',
  };
  const saves: [Record<string, unknown>, Record<string, unknown>][] = [
    [
      { metaTitle: 'New', title: 'Exactly' },
      { ...set, changed: ['metaTitle'] },
    ],
    [
      { metaTitle: null, metaDescription: 'About', secondaryKeywords: ['b', 'a'] },
      { ...set, changed: ['metaTitle', 'metaDescription', 'secondaryKeywords'] },
    ],
    [
      {
        documentJson: documentOf(paragraph('Other words')),
        targetKeywords: ['x'],
        secondaryKeywords: ['a', 'b'],
      },
      { ...set, changed: ['content', 'targetKeywords', 'secondaryKeywords'] },
    ],
    [
      { title: 'Exactly so' },
      {
        ...set,
        title: 'Exactly so',
        slug: 'exactly-so',
        changed: ['title', 'slug'],
        previousSlug: 'exactly',
      },
    ],
    [
      { slug: 'by-hand' },
      { ...set, title: 'Exactly so', slug: 'by-hand', changed: ['slug'], previousSlug: 'exactly-so' },
    ],
    [{ title: 'Renamed' }, { ...set, title: 'Renamed', slug: 'by-hand', changed: ['title'] }],
  ];
  let updatedAt = article.updatedAt;
  for (const [body, data] of saves) {
    const saved = await editor.patch(id, body);
    expect(saved.status).toBe(200);
    expect(await lastEvent(id)).toEqual({ event: 'article.updated', data });
    expect(Date.parse(saved.body.article.updatedAt)).toBeGreaterThan(Date.parse(updatedAt));
    updatedAt = saved.body.article.updatedAt;
  }
  const before = await editor.read(id);
  const events = (await editor.events(id)).length;
  for (const body of [{}, { title: ' Renamed ', metaTitle: null, documentJson: before.documentJson }]) {
    const saved = await editor.patch(id, body);
    expect([saved.status, saved.body.article]).toEqual([200, before]);
  }
  expect((await editor.events(id)).length).toBe(events);

  const draft = await editor.create(projectId);
  await editor.patch(draft.id, { title: 'Draft renamed' });
  expect(await editor.eventTypes(draft.id)).toEqual(['article.created']);
  expect(await editor.auditActions(draft.id)).toEqual(['articles.created', 'articles.updated']);
});

// contract.md R5
it('updatedAt stays when categories are assigned, also while a job owns the article', async () => {
  const article = await editor.create(projectId);
  await editor.openJob(article);
  const before = await editor.call('GET', `/api/articles/${article.id}`);
  const assigned = await editor.call('PUT', `/api/articles/${article.id}/categories`, { categoryIds: [] });
  expect(assigned.status).toBe(200);
  const after = await editor.call('GET', `/api/articles/${article.id}`);
  expect([after.body, after.headers.get('etag')]).toEqual([before.body, before.headers.get('etag')]);
});

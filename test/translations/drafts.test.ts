import { expect, it } from 'vitest';
import type { ArticleId } from '../../src/ids.ts';
import { pseudoLocalize } from '../../src/providers/pseudo.ts';
import { ProviderError } from '../../src/providers/types.ts';
import { useTranslations } from '../support/translating.ts';
import { addAsset, createIllustrated, usedBytes } from './support/images.ts';

const { service, provider, workspace, calls } = useTranslations();

async function translate(articleId: string, language = 'es') {
  const { status, body } = await service.call(
    workspace.key,
    'POST',
    `/api/articles/${articleId}/translations`,
    { language },
  );
  expect(status).toBe(202);
  return body;
}

// contract.md T54
it('a draft that a cancelled run left is reused, and keeps its categories', async () => {
  const { source } = await createIllustrated(service, workspace);
  const categories: string[] = [];
  for (const name of ['Beds', 'Water']) {
    const { body } = await service.call(workspace.key, 'POST', `/api/workspaces/${workspace.id}/categories`, {
      primaryLanguage: 'en',
      translations: [{ language: 'en', name }],
    });
    categories.push(body.category.id);
  }
  const assign = (ids: string[]) =>
    service.call(workspace.key, 'PUT', `/api/articles/${source.id}/categories`, { categoryIds: ids });
  await assign(categories);
  const first = await translate(source.id);
  await calls.cancel(workspace, first.job.id);
  await assign(categories.slice(1));
  const second = await translate(source.id);
  expect(second.article.id).toBe(first.article.id);
  const links = await service.db
    .selectFrom('article_categories')
    .select('category_id')
    .where('article_id', '=', first.article.id)
    .execute();
  expect(links.map(({ category_id }) => category_id).sort()).toEqual(categories.sort());
});

it('the empty draft of a failed translation is neither reviewed nor published, and is filled by the next one', async () => {
  provider.behave = async () => {
    throw new ProviderError('fatal', 'The engine does not know this language pair.');
  };
  const { source } = await createIllustrated(service, workspace);
  const { article, job } = await translate(source.id);
  await calls.untilFinal(workspace, job.id);
  const move = (what: string) => service.call(workspace.key, 'POST', `/api/articles/${article.id}/${what}`);
  expect(await move('submit')).toMatchObject({
    status: 409,
    body: { code: 'CONFLICT', details: { reason: 'no_content' } },
  });
  // One that was emptied after its approval is not published either.
  await service.db.updateTable('articles').set({ status: 'APPROVED' }).where('id', '=', article.id).execute();
  expect(await move('publish')).toMatchObject({ status: 409, body: { details: { reason: 'no_content' } } });
  await service.db.updateTable('articles').set({ status: 'DRAFT' }).where('id', '=', article.id).execute();
  provider.behave = async () => undefined;
  const again = await translate(source.id);
  expect(again.article.id).toBe(article.id);
  expect(await calls.untilFinal(workspace, again.job.id)).toMatchObject({ status: 'COMPLETED' });
});

// contract.md T16
it('a cover that an editor gave the draft of a failed translation stays, and the next one fills the draft', async () => {
  const { source } = await createIllustrated(service, workspace);
  await addAsset(service, workspace, source.id, 'hero', 500);
  provider.behave = async () => {
    throw new ProviderError('fatal', 'The engine does not know this language pair.');
  };
  const { article, job } = await translate(source.id);
  await calls.untilFinal(workspace, job.id);
  const cover = await addAsset(service, workspace, article.id as ArticleId, 'hero', 300);
  const before = await usedBytes(service, workspace);
  provider.behave = async () => undefined;
  const again = await translate(source.id);
  expect(await calls.untilFinal(workspace, again.job.id)).toMatchObject({ status: 'COMPLETED' });
  const images = await service.db
    .selectFrom('assets')
    .select(['id', 'role'])
    .where('article_id', '=', article.id as ArticleId)
    .orderBy('role')
    .execute();
  expect(images).toEqual([
    { id: cover, role: 'hero' },
    { id: expect.any(String), role: 'inline' },
  ]);
  // The source's plan is copied; its cover is not, and what was held for it is free again.
  expect((await usedBytes(service, workspace)) - before).toBe(700);
});

// contract.md T54
it('title, slug, meta texts and keywords that a person set in the draft stay, and the rest is translated', async () => {
  const { source } = await createIllustrated(service, workspace);
  const meta = { metaTitle: 'The garden', metaDescription: 'How it grows.', targetKeywords: ['garden'] };
  const patch = (id: string, body: unknown) =>
    service.call(workspace.key, 'PATCH', `/api/articles/${id}`, body);
  expect((await patch(source.id, meta)).status).toBe(200);
  const translateInVain = async (language: string) => {
    provider.behave = async () => {
      throw new ProviderError('fatal', 'The engine does not know this language pair.');
    };
    const { article, job } = await translate(source.id, language);
    expect((await calls.untilFinal(workspace, job.id)).status).toBe('FAILED');
    provider.behave = async () => undefined;
    return article;
  };
  const first = await translateInVain('es');
  // The source's title has changed meanwhile: the draft's is the service's all the same.
  expect((await patch(source.id, { title: 'A new title of the source' })).status).toBe(200);
  const untouched = await translate(source.id);
  expect((await calls.untilFinal(workspace, untouched.job.id)).status).toBe('COMPLETED');
  const renamed = await calls.readArticle(workspace, first.id);
  expect(renamed.title).toBe(pseudoLocalize('A new title of the source'));
  expect(renamed.slug).not.toBe(first.slug);

  const again = await translateInVain('de');
  const own = {
    title: 'Mein Titel',
    slug: 'mein-garten',
    metaTitle: 'Mein Meta-Titel',
    targetKeywords: ['Beet'],
  };
  expect((await patch(again.id, own)).status).toBe(200);
  const last = await translate(source.id, 'de');
  expect(last.article.id).toBe(again.id);
  expect((await calls.untilFinal(workspace, last.job.id)).status).toBe('COMPLETED');
  const version = await calls.readArticle(workspace, again.id);
  expect(version).toMatchObject({ ...own, metaDescription: pseudoLocalize(meta.metaDescription) });
  expect(version.documentJson.blocks).toHaveLength(source.document.blocks.length);
  const { body } = await service.call(workspace.key, 'GET', `/api/articles/${version.id}/proposals`);
  expect(body.proposals).toEqual([]);
});

import { expect, it } from 'vitest';
import type { DocumentJson } from '../../src/document/format/schema.ts';
import { type ArticleId, type CategoryId, newId } from '../../src/ids.ts';
import { pseudoLocalize } from '../../src/providers/pseudo.ts';
import { ProviderError } from '../../src/providers/types.ts';
import { createArticle } from '../support/articles.ts';
import { useTranslations } from '../support/translating.ts';
import { addAsset, createIllustrated, usedBytes } from './support/images.ts';

const { service, provider, workspace, calls } = useTranslations({ credits: 100 });

const request = (articleId: string, language = 'es') => calls.request(workspace, articleId, language);
const translateTo = (articleId: string, language = 'es') => calls.translateTo(workspace, articleId, language);

it('has its title, slug, meta fields, keywords, alt texts, captions and attributions translated', async () => {
  const projectId = await service.project(workspace);
  const source = await createArticle(service.db, workspace, projectId);
  const inline = await addAsset(service, workspace, source.id, 'inline', 10);
  const hero = await addAsset(service, workspace, source.id, 'hero', 20);
  const document: DocumentJson = {
    version: 1,
    blocks: [
      { id: 'q', type: 'quote', text: 'Dig deep.', attribution: 'An old gardener' },
      { id: 'i', type: 'image', assetId: inline, altText: 'A bed of tulips', caption: 'In April' },
      { id: 'c', type: 'code', text: 'dig(deep)', language: 'js' },
    ],
  };
  await service.db
    .updateTable('articles')
    .set({
      document: JSON.stringify(document),
      meta_title: 'A garden in spring and all that grows in it until autumn',
      meta_description: `${'Everything about the garden '.repeat(7)}in May`,
      target_keywords: ['garden', 'spring'],
      secondary_keywords: ['tulips'],
    })
    .where('id', '=', source.id)
    .execute();
  const { job, article } = await translateTo(source.id);
  expect(job.status).toBe('COMPLETED');
  expect(article).toMatchObject({
    title: pseudoLocalize('A garden in spring'),
    slug: 'a-garden-in-spring',
    status: 'NEEDS_REVIEW',
    targetKeywords: ['garden', 'spring'].map(pseudoLocalize),
    secondaryKeywords: [pseudoLocalize('tulips')],
    primaryLanguage: 'es',
    translationGroupId: source.translation_group_id,
  });
  expect(article.metaTitle).toBe(pseudoLocalize('A garden in spring and all that grows in it until autumn'));
  const description = article.metaDescription ?? '';
  expect([...description].length).toBeLessThanOrEqual(200);
  expect([...description].length).toBeGreaterThan(180);
  expect(description).toMatch(/ îñ$/);
  const assets = await service.db
    .selectFrom('assets')
    .select(['id', 'role', 'content_hash', 'media_type', 'byte_size', 'file_name', 'alt_text'])
    .where('article_id', '=', article.id as ArticleId)
    .orderBy('role')
    .execute();
  expect(assets).toEqual([
    {
      id: expect.any(String),
      role: 'hero',
      content_hash: 'a'.repeat(64),
      media_type: 'image/png',
      byte_size: 20,
      file_name: 'hero.png',
      alt_text: pseudoLocalize('The hero of it'),
    },
    {
      id: expect.any(String),
      role: 'inline',
      content_hash: 'b'.repeat(64),
      media_type: 'image/png',
      byte_size: 10,
      file_name: 'inline.png',
      alt_text: pseudoLocalize('The inline of it'),
    },
  ]);
  expect(article.documentJson.blocks).toEqual([
    {
      id: 'q',
      type: 'quote',
      text: pseudoLocalize('Dig deep.'),
      attribution: pseudoLocalize('An old gardener'),
    },
    {
      id: 'i',
      type: 'image',
      assetId: assets[1]?.id,
      altText: pseudoLocalize('A bed of tulips'),
      caption: pseudoLocalize('In April'),
    },
    { id: 'c', type: 'code', text: 'dig(deep)', language: 'js' },
  ]);
  expect([hero, inline]).not.toContain(assets[1]?.id);
  expect(await usedBytes(service, workspace)).toBe(60);
});

it('names the articles that the source links to, whatever versions there are', async () => {
  const projectId = await service.project(workspace);
  const known = await createArticle(service.db, workspace, projectId, { title: 'Known' });
  await translateTo(known.id);
  const alone = await createArticle(service.db, workspace, projectId, { title: 'Alone' });
  const gone = newId<ArticleId>();
  const links = [known.id, alone.id, gone].map((articleId, index) => ({
    text: ['first words', 'second words', 'third words'][index] ?? '',
    articleId,
  }));
  const source = await createArticle(service.db, workspace, projectId, {
    title: 'Linker',
    document: {
      version: 1,
      blocks: [{ id: 'p', type: 'paragraph', text: 'The first words, second words and third words.', links }],
    },
  });
  const { article } = await translateTo(source.id);
  const [block] = article.documentJson.blocks;
  if (block?.type !== 'paragraph') throw new Error('no paragraph');
  expect(block.links?.map(({ articleId }) => articleId)).toEqual([known.id, alone.id, gone]);
  for (const link of block.links ?? []) expect(block.text).toContain(link.text);
});

it('gets a slug of its own among the articles of its project and language', async () => {
  const projectId = await service.project(workspace);
  const sources = await Promise.all(
    ['One title', 'One title', 'One title'].map((title) =>
      createArticle(service.db, workspace, projectId, { title }),
    ),
  );
  const translated = await Promise.all(sources.map((source) => translateTo(source.id)));
  expect(translated.map(({ job }) => job.status)).toEqual(['COMPLETED', 'COMPLETED', 'COMPLETED']);
  expect(translated.map(({ article }) => article.slug).sort()).toEqual([
    'one-title',
    'one-title-2',
    'one-title-3',
  ]);
});

it('starts with the categories of its source, also those that come back to a reused draft', async () => {
  const projectId = await service.project(workspace);
  const source = await createArticle(service.db, workspace, projectId);
  const path = `/api/workspaces/${workspace.id}/categories`;
  const ids: CategoryId[] = [];
  for (const name of ['Soil', 'Seeds']) {
    const created = await service.call(workspace.key, 'POST', path, {
      primaryLanguage: 'en',
      translations: [{ language: 'en', name }],
    });
    expect(created.status).toBe(201);
    ids.push(created.body.category.id);
  }
  const assigned = await service.call(workspace.key, 'PUT', `/api/articles/${source.id}/categories`, {
    categoryIds: ids.toReversed(),
  });
  expect(assigned.status).toBe(200);
  provider.behave = async () => {
    throw new ProviderError('fatal', 'No.');
  };
  const { article: draft } = await translateTo(source.id);
  provider.behave = async () => undefined;
  const { article } = await translateTo(source.id);
  expect(article.id).toBe(draft.id);
  const rows = await service.db
    .selectFrom('article_categories')
    .select('category_id')
    .where('article_id', '=', article.id as ArticleId)
    .orderBy('position')
    .execute();
  expect(rows.map(({ category_id }) => category_id)).toEqual(ids.toReversed());
});

it('editing or deleting the source while the job runs changes nothing in its result', async () => {
  let edited = false;
  const { source } = await createIllustrated(service, workspace);
  provider.behave = async () => {
    if (edited) return;
    edited = true;
    await service.call(workspace.key, 'PATCH', `/api/articles/${source.id}`, { title: 'Edited' });
    expect((await service.call(workspace.key, 'DELETE', `/api/articles/${source.id}`)).status).toBe(200);
  };
  const { article, job } = (await request(source.id)).body;
  expect(await calls.untilFinal(workspace, job.id)).toMatchObject({ status: 'COMPLETED' });
  const translated = await calls.readArticle(workspace, article.id);
  expect(translated.title).not.toContain('Edited');
  expect(translated.documentJson.blocks.map((block) => block.id)).toEqual(['p', 'i']);
});

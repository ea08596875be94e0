import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { DocumentJson } from '../../src/document/format/schema.ts';
import { type ArticleId, type AssetId, type CategoryId, newId } from '../../src/ids.ts';
import { pseudoLocalize } from '../../src/providers/pseudo.ts';
import { ProviderError } from '../../src/providers/types.ts';
import { createArticle, longDocument } from '../support/articles.ts';
import { type TestWorkspace, useTestService } from '../support/service.ts';
import { createStandIn, hang, translating } from '../support/translating.ts';
import { eventually } from '../support/wait.ts';
import { untilWaiting, whileLocked } from './support/locks.ts';

const service = useTestService();

let workspace: TestWorkspace;
let calls: ReturnType<typeof translating>;
const provider = createStandIn();

beforeAll(async () => {
  calls = translating(service);
  await service.startWorker({ provider });
});
beforeEach(async () => {
  provider.behave = async () => undefined;
  workspace = await service.workspace(100);
});

const request = (articleId: string, language = 'es') =>
  service.call(workspace.key, 'POST', `/api/articles/${articleId}/translations`, { language });

async function translateTo(articleId: string, language = 'es') {
  const answer = await request(articleId, language);
  expect(answer.status).toBe(202);
  const job = await calls.untilFinal(workspace, answer.body.job.id);
  return { job, article: await calls.readArticle(workspace, answer.body.article.id) };
}

const usedBytes = async () =>
  (
    await service.db
      .selectFrom('workspaces')
      .select('storage_bytes_used')
      .where('id', '=', workspace.id)
      .executeTakeFirstOrThrow()
  ).storage_bytes_used;

/** An image of the article, counted as an upload counts it. */
async function addAsset(articleId: ArticleId, role: 'hero' | 'inline', byteSize: number): Promise<AssetId> {
  const id = newId<AssetId>();
  await service.db
    .insertInto('assets')
    .values({
      id,
      workspace_id: workspace.id,
      article_id: articleId,
      role,
      content_hash: (role === 'hero' ? 'a' : 'b').repeat(64),
      media_type: 'image/png',
      byte_size: byteSize,
      file_name: `${role}.png`,
      alt_text: `The ${role} of it`,
    })
    .execute();
  await service.db
    .updateTable('workspaces')
    .set((eb) => ({ storage_bytes_used: eb('storage_bytes_used', '+', byteSize) }))
    .where('id', '=', workspace.id)
    .execute();
  return id;
}

describe('the translated article', () => {
  it('has its title, slug, meta fields, keywords, alt texts, captions and attributions translated', async () => {
    const projectId = await service.project(workspace);
    const source = await createArticle(service.db, workspace, projectId);
    const inline = await addAsset(source.id, 'inline', 10);
    const hero = await addAsset(source.id, 'hero', 20);
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
    expect(article.metaTitle).toBe(
      pseudoLocalize('A garden in spring and all that grows in it until autumn'),
    );
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
    expect(await usedBytes()).toBe(60);
  });

  it('links to the target-language versions that there are, and else to what the source links to', async () => {
    const projectId = await service.project(workspace);
    const known = await createArticle(service.db, workspace, projectId, { title: 'Known' });
    const { article: version } = await translateTo(known.id);
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
        blocks: [
          { id: 'p', type: 'paragraph', text: 'The first words, second words and third words.', links },
        ],
      },
    });
    const { article } = await translateTo(source.id);
    const [block] = article.documentJson.blocks;
    if (block?.type !== 'paragraph') throw new Error('no paragraph');
    expect(block.links?.map(({ articleId }) => articleId)).toEqual([version.id, alone.id, gone]);
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
});

describe('storage', () => {
  it('is held from the request on, and given back by a failure and by a cancellation, not by a success', async () => {
    const projectId = await service.project(workspace);
    const source = await createArticle(service.db, workspace, projectId);
    await addAsset(source.id, 'inline', 500);
    provider.behave = hang;
    const held = await request(source.id);
    expect([held.status, await usedBytes()]).toEqual([202, 1000]);
    expect((await calls.cancel(workspace, held.body.job.id)).status).toBe(202);
    expect(await usedBytes()).toBe(500);
    provider.behave = async () => {
      throw new ProviderError('fatal', 'No.');
    };
    expect((await translateTo(source.id)).job.status).toBe('FAILED');
    expect(await usedBytes()).toBe(500);
    provider.behave = async () => undefined;
    expect((await translateTo(source.id)).job.status).toBe('COMPLETED');
    expect(await usedBytes()).toBe(1000);
  });

  it('is never overrun by races: of eight copies at once exactly those that fit are taken, the others are 429', async () => {
    provider.behave = hang;
    const projectId = await service.project(workspace);
    const sources = await Promise.all(
      Array.from({ length: 8 }, () => createArticle(service.db, workspace, projectId)),
    );
    for (const source of sources) await addAsset(source.id, 'inline', 100);
    await service.db
      .updateTable('workspaces')
      .set({ storage_bytes_limit: 1_150 })
      .where('id', '=', workspace.id)
      .execute();
    const answers = await Promise.all(sources.map((source) => request(source.id)));
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 202, 202, ...Array(5).fill(429)]);
    for (const { status, body } of answers) if (status === 429) expect(body.code).toBe('QUOTA_EXCEEDED');
    expect(await usedBytes()).toBe(1_100);
    expect(await calls.readWallet(workspace)).toEqual({ balance: 100, reserved: 3, available: 97 });
    const accepted = answers.filter(({ status }) => status === 202);
    await Promise.all(accepted.map(({ body }) => calls.cancel(workspace, body.job.id)));
    expect(await usedBytes()).toBe(800);
  });
});

describe('cancelling against settling', () => {
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

  it('at any moment: the job ends once, and credits and bytes agree with how it ended', async () => {
    const projectId = await service.project(workspace);
    let completed = 0;
    for (let round = 0; round < 24; round += 1) {
      const source = await createArticle(service.db, workspace, projectId, { document: longDocument(60) });
      await addAsset(source.id, 'inline', 1);
      const { body } = await request(source.id);
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 120));
      const answer = await calls.cancel(workspace, body.job.id);
      const done = await calls.untilFinal(workspace, body.job.id);
      expect([done.status, answer.status]).toEqual(
        answer.status === 202 ? ['CANCELLED', 202] : ['COMPLETED', 409],
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
    expect(await usedBytes()).toBe(24 + completed);
  });
});

import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { articlesFor } from '../../src/generation/linkable/assign.ts';
import { findNearest } from '../../src/generation/linkable/nearest.ts';
import type { WrittenPart } from '../../src/generation/writing/brief.ts';
import { type ArticleId, newId, type ProjectId, type WorkspaceId } from '../../src/ids.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
const workspaceId = newId<WorkspaceId>();
beforeAll(async () => {
  database = await createTestDatabase();
  await database.db.insertInto('workspaces').values({ id: workspaceId, name: 'Gardens' }).execute();
});
afterAll(() => database.drop());

async function newProject(languages: readonly string[] = ['en', 'en-GB', 'de', 'zh-Hans', 'zh-Hant']) {
  const id = newId<ProjectId>();
  await database.db
    .insertInto('projects')
    .values({ id, workspace_id: workspaceId, name: id, languages: [...languages], primary_language: 'en' })
    .execute();
  return id;
}

interface Stored {
  readonly title: string;
  readonly language?: string;
  readonly status?: 'DRAFT' | 'PUBLISHED';
  readonly keywords?: readonly string[];
  readonly group?: string;
  readonly minutesAgo?: number;
}
async function store(projectId: ProjectId, article: Stored): Promise<ArticleId> {
  const { title, language = 'en', status = 'PUBLISHED', keywords = [], minutesAgo = 0 } = article;
  const id = newId<ArticleId>();
  await sql`
    INSERT INTO articles (id, workspace_id, project_id, title, slug, status, document, primary_language,
      translation_group_id, target_keywords, published_at)
    VALUES (${id}, ${workspaceId}, ${projectId}, ${title}, ${id}, ${status}, '{"version":1,"blocks":[]}', ${language},
      ${article.group ?? newId()}, ${[...keywords]}, now() - make_interval(mins => ${minutesAgo}))`.execute(
    database.db,
  );
  return id;
}

interface Wanted {
  readonly topic: string;
  readonly language?: string;
  readonly primaryKeyword?: string;
  readonly secondaryKeywords?: readonly string[];
  readonly group?: string;
}
/** Titles of the articles nearest to a draft of this topic. */
async function nearest(projectId: ProjectId, { group, ...wanted }: Wanted): Promise<string[]> {
  const { topic, language = 'en', secondaryKeywords = [], primaryKeyword } = wanted;
  const articleId = await store(projectId, {
    title: topic,
    language,
    status: 'DRAFT',
    ...(group === undefined ? {} : { group }),
  });
  const config = { topic, language, secondaryKeywords: [...secondaryKeywords], primaryKeyword };
  const found = await findNearest(database.db, { workspaceId, projectId, articleId, title: topic, config });
  return found.map(({ title }) => title);
}

describe('the articles that a text may link to', () => {
  // contract.md G87
  it('are the 20 nearest by words in title and keywords, however many newer ones there are', async () => {
    const project = await newProject();
    await store(project, { title: 'A rain barrel for small balconies', minutesAgo: 90_000 });
    await store(project, {
      title: 'Saving money on the terrace',
      keywords: ['rain barrel'],
      minutesAgo: 80_000,
    });
    await Promise.all(
      Array.from({ length: 30 }, (_, minutesAgo) =>
        store(project, { title: `The news of day ${minutesAgo}`, minutesAgo }),
      ),
    );
    const titles = await nearest(project, { topic: 'Which barrel catches the rain best?' });
    expect(titles).toHaveLength(20);
    expect(titles.slice(0, 2)).toEqual(['A rain barrel for small balconies', 'Saving money on the terrace']);
    // The rest share only “the”, or nothing: the newest come first.
    expect(titles[2]).toBe('The news of day 0');
    expect((await nearest(project, { topic: 'Roses', secondaryKeywords: ['terrace'] }))[0]).toBe(
      'Saving money on the terrace',
    );
  });

  // contract.md G87
  it('are found by the names of their categories, too', async () => {
    const project = await newProject();
    const bulb = await store(project, { title: 'Tulips without frost', minutesAgo: 100 });
    const [category, language] = [newId(), 'en'];
    await sql`INSERT INTO categories (id, workspace_id, primary_language) VALUES (${category}, ${workspaceId}, 'en')`.execute(
      database.db,
    );
    await sql`INSERT INTO category_names (id, workspace_id, category_id, language, name, name_key, slug)
      VALUES (${newId()}, ${workspaceId}, ${category}, ${language}, 'Bulbs', 'bulbs', 'bulbs')`.execute(
      database.db,
    );
    await sql`INSERT INTO article_categories (workspace_id, article_id, category_id, position)
      VALUES (${workspaceId}, ${bulb}, ${category}, 0)`.execute(database.db);
    for (let minutesAgo = 0; minutesAgo < 25; minutesAgo += 1) {
      await store(project, { title: `Day ${minutesAgo}`, minutesAgo });
    }
    expect((await nearest(project, { topic: 'When to plant bulbs' }))[0]).toBe('Tulips without frost');
  });

  // contract.md G24 and G87
  it('are published ones of the project in the same language and script: en serves en-GB, zh-Hant not zh-Hans', async () => {
    const project = await newProject();
    const other = await newProject();
    await store(project, { title: 'Compost', status: 'DRAFT' });
    await store(other, { title: 'Compost elsewhere' });
    await store(project, { title: 'Compost in England', language: 'en-GB' });
    await store(project, { title: 'Kompost', language: 'de' });
    await store(project, { title: '花园堆肥', language: 'zh-Hans' });
    await store(project, { title: '花園堆肥', language: 'zh-Hant' });
    expect(await nearest(project, { topic: 'Compost' })).toEqual(['Compost in England']);
    expect(await nearest(project, { topic: 'Kompost', language: 'de-AT' })).toEqual(['Kompost']);
    expect(await nearest(project, { topic: '堆肥', language: 'zh-TW' })).toEqual(['花園堆肥']);
    expect(await nearest(project, { topic: 'Abono', language: 'es' })).toEqual([]);
  });

  // contract.md G87
  it('are one of several versions of an article, the one in the text’s own language, and none of its own', async () => {
    const project = await newProject();
    const [group, own] = [newId(), newId()];
    await store(project, { title: 'Compost, American', group });
    await store(project, { title: 'Compost, British', language: 'en-GB', group });
    await store(project, { title: 'Compost, this one', language: 'en', group: own });
    expect(await nearest(project, { topic: 'Compost', language: 'en-GB', group: own })).toEqual([
      'Compost, British',
    ]);
  });

  // contract.md G87
  it('in Chinese and Japanese are nearest by characters, whatever stands in a topic as words', async () => {
    const project = await newProject(['en', 'ja']);
    await store(project, { title: '庭の手入れ', language: 'ja', minutesAgo: 50 });
    await store(project, { title: 'コーヒー', language: 'ja' });
    const topic = "庭 'quoted' \\ back & ( | !not :* <b>";
    expect(await nearest(project, { topic, language: 'ja' })).toEqual(['庭の手入れ', 'コーヒー']);
  });

  // contract.md G87
  it('are found without reading a project’s articles', async () => {
    const project = await newProject();
    await sql`
      INSERT INTO articles (id, workspace_id, project_id, title, slug, status, document, primary_language,
        translation_group_id, published_at)
      SELECT gen_random_uuid(), ${workspaceId}, ${project}, 'Plant number ' || n, n, 'PUBLISHED',
        '{"version":1,"blocks":[]}', 'en', gen_random_uuid(), now()
      FROM generate_series(1, 5000) AS n`.execute(database.db);
    await sql`ANALYZE articles`.execute(database.db);
    const articleId = await store(project, { title: 'Draft', status: 'DRAFT' });
    const config = { topic: 'Which 4711 grows best', language: 'en', secondaryKeywords: [] };
    const rowsRead = await database.db.transaction().execute(async (tx) => {
      await sql`SET LOCAL enable_seqscan = off`.execute(tx);
      const [found] = await findNearest(tx, {
        workspaceId,
        projectId: project,
        articleId,
        title: '',
        config,
      });
      expect(found?.title).toBe('Plant number 4711');
      const { rows } = await sql<{ read: number }>`
        SELECT (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::integer AS read
        FROM pg_stat_xact_user_tables WHERE relname = 'articles'`.execute(tx);
      return rows[0]?.read ?? 0;
    });
    expect(rowsRead).toBeGreaterThan(0);
    // Fewer than the project has, for all words together.
    expect(rowsRead).toBeLessThan(5_000);
  });
});

// contract.md G88
it('each article is given to one section: the one with most words of its title, rare ones first, or the one with fewest', () => {
  const section = (id: string, heading: string, purpose = 'Say it.', keywords: string[] = []) => ({
    id,
    heading,
    purpose,
    keywords,
    level: 2 as const,
    estimatedWords: 100,
  });
  const outline = {
    title: 'The garden',
    slug: 'garden',
    metaTitle: 'Garden',
    metaDescription: 'A garden.',
    sections: [
      section('soil', 'The garden soil', 'What the garden needs.'),
      section('water', 'Water in the garden', 'How to save it.', ['rain barrel']),
      section('tools', 'Tools for the garden'),
    ],
  };
  const titles = ['A garden barrel', 'Sharp tools', 'Garden soil in May', 'Something else', 'Anything'];
  const articles = titles.map((title, index) => ({ id: String(index), title }));
  const told = (finished: readonly WrittenPart[] = []) =>
    outline.sections.map((_, index) =>
      articlesFor(outline, { index, finished }, articles).map(({ title }) => title),
    );
  expect(told()).toEqual([
    ['Garden soil in May', 'Something else'],
    ['A garden barrel', 'Anything'],
    ['Sharp tools'],
  ]);
  const links = [{ text: 'sharp', articleId: '1' }];
  const blocks = [{ id: 'one', type: 'paragraph' as const, text: 'Keep them sharp.', links }];
  expect(told([{ blocks, words: 3, mended: {} }])[2]).toEqual([]);
});

import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { createDatabase, type Database } from '../../src/db/database.ts';
import { findFreeSlug, slugify } from '../../src/slug.ts';
import { createArticle } from '../support/articles.ts';
import { useTestService } from '../support/service.ts';

const service = useTestService();

it('a slug has the Latin letters and digits of a title, and guesses at no other script', () => {
  const slugs = {
    'iPhone 用の庭': 'iphone',
    'Ёлка и iPad 15': 'ipad-15',
    'Über die Größe, Ł': 'uber-die-grosse-l',
    'Việt Nam': 'viet-nam',
    'हिन्दी 2024': '2024',
    庭の手入れ: 'article',
    スーパー: 'article',
    "Don't stop": 'dont-stop',
  };
  for (const [title, slug] of Object.entries(slugs))
    expect([title, slugify(title, 'article')]).toEqual([title, slug]);
});

it('numbers count on from the highest, with few look-ups, whatever is taken', async () => {
  for (const count of [1, 2, 31, 32, 33, 63, 64, 65, 1_000, 70_001]) {
    const taken = new Set(['a', ...Array.from({ length: count - 1 }, (_, index) => `a-${index + 2}`)]);
    let lookUps = 0;
    const slug = await findFreeSlug('a', async (slugs) => {
      lookUps += 1;
      expect(slugs.length).toBeLessThanOrEqual(64);
      return new Set(slugs.filter((each) => taken.has(each)));
    });
    expect(slug).toBe(`a-${count + 1}`);
    expect(lookUps).toBeLessThanOrEqual(5);
  }
  // Even when somebody has taken every number that is tried first.
  const all = await findFreeSlug(
    'a',
    async (slugs) => new Set(slugs.filter((slug) => !/\d{13}$/.test(slug))),
  );
  expect(all).toMatch(/^a-\d{13}$/);
  expect((await findFreeSlug('x'.repeat(120), async (slugs) => new Set(slugs.slice(0, 5)))).length).toBe(120);
});

it('a title without Latin letters costs as much in a project of thousands as in an empty one', async () => {
  const workspace = await service.workspace();
  const projectId = await service.project(workspace);
  await sql`
    INSERT INTO articles (id, workspace_id, project_id, title, slug, status, document, primary_language,
      translation_group_id)
    SELECT gen_random_uuid(), ${workspace.id}, ${projectId}, '庭', 'article' || coalesce('-' || nullif(number, 1), ''),
      'DRAFT', '{}', 'en', gen_random_uuid()
    FROM generate_series(1, 5000) AS number`.execute(service.db);
  await sql`ANALYZE articles`.execute(service.db);
  const db = createDatabase({ connectionString: service.config.DATABASE_URL, poolSize: 1 });
  const before = await entriesRead(db);
  const { slug } = await createArticle(db, workspace, projectId, { title: '庭の手入れ' });
  expect(slug).toBe('article-5001');
  expect((await entriesRead(db)) - before).toBeLessThan(300);
  await db.destroy();
});

/** Rows and index entries of articles that have been read so far, as Postgres counts them. */
async function entriesRead(db: Database): Promise<number> {
  await sql`SELECT pg_stat_force_next_flush()`.execute(db);
  const { rows } = await sql<{ count: number }>`
    SELECT (SELECT seq_tup_read FROM pg_stat_user_tables WHERE relname = 'articles')
      + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE relname = 'articles')::bigint AS count`.execute(
    db,
  );
  return rows[0]?.count ?? 0;
}

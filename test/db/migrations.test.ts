import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import { articleColumns } from '../../src/articles/queries.ts';
import { showArticle } from '../../src/articles/show.ts';
import { assetPath } from '../../src/blobs/asset.ts';
import { createDatabase, type Database } from '../../src/db/database.ts';
import { migrateToLatest, requireSchema } from '../../src/db/migrate.ts';
import { onlineSteps } from '../../src/db/online.ts';
import type { ArticleId, AssetId } from '../../src/ids.ts';
import { checkAllLinks } from '../articles/support.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let other: Database;
beforeEach(async () => {
  database = await createTestDatabase('template0');
  other = createDatabase({ connectionString: database.url, poolSize: 4 });
});
afterEach(async () => {
  await other.destroy();
  await database.drop();
});

const folder = new URL('../../migrations/', import.meta.url);

/** Makes the migrations whose names come before `end`. */
async function migrateUntil(end: string): Promise<void> {
  const migrations: Record<string, Migration> = {};
  for (const file of readdirSync(folder)) {
    const name = file.replace(/\.ts$/, '');
    const { up } = await import(new URL(file, folder).href);
    if (name >= end) continue;
    migrations[name] = {
      up: (db) =>
        up(
          db,
          onlineSteps(db, name, () => undefined),
        ),
    };
  }
  const migrator = new Migrator({ db: database.db, provider: { getMigrations: async () => migrations } });
  const { error } = await migrator.migrateToLatest({ disableTransactions: true });
  if (error !== undefined) throw error;
}

const KEYS = '0014_role_name_keys';
const indexes = async () =>
  (
    await sql<{ name: string; valid: boolean }>`
      SELECT indexrelid::regclass::text AS name, indisvalid AS valid FROM pg_index
      WHERE indrelid = 'roles'::regclass ORDER BY 1`.execute(database.db)
  ).rows;
const migrated = ['roles_folded_name_key', 'roles_pkey', 'roles_tenant_key'].map((name) => ({
  name,
  valid: true,
}));

it('goes on beside a dump that takes longer, and blocks no other session meanwhile', async () => {
  await migrateUntil(KEYS);
  expect(await indexes()).not.toEqual(migrated);
  const lines: string[] = [];
  let passed = 0;
  let hasEnded = false;
  let migrating: Promise<string[]> | undefined;
  await other.transaction().execute(async (dump) => {
    await sql`LOCK TABLE roles IN ACCESS SHARE MODE`.execute(dump);
    migrating = migrateToLatest(database.db, (line) => lines.push(line)).finally(() => {
      hasEnded = true;
    });
    while (lines.length < 2) {
      await sql`SELECT count(*) FROM roles`.execute(other);
      await sql`UPDATE roles SET name = name`.execute(other);
      passed += 1;
      await sleep(20);
    }
    expect(hasEnded).toBe(false);
  });
  expect((await migrating)?.[0]).toBe(KEYS);
  expect(await indexes()).toEqual(migrated);
  expect(lines[0]).toMatch(/^0014_role_name_keys waits for a lock that a longer transaction holds/);
  expect(passed).toBeGreaterThan(10);
});

it('finishes what was cut off in the middle of an index, and two that start together do it once', async () => {
  await migrateUntil(KEYS);
  // What a build leaves behind that was killed: an index that is not valid, under the name it was to have.
  await sql`CREATE INDEX roles_folded_name_key ON roles (id)`.execute(database.db);
  await sql`
    UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'roles_folded_name_key'::regclass`.execute(
    database.db,
  );
  const ran = await Promise.all([migrateToLatest(database.db), migrateToLatest(other)]);
  expect(ran.flat().filter((name) => name === KEYS)).toHaveLength(1);
  expect(await indexes()).toEqual(migrated);
});

it('renders stored articles with places, keeps where links led, and reports only what leads elsewhere since', async () => {
  await migrateUntil('0039_places');
  const { db } = database;
  const [workspaceId, projectId, imageId] = [randomUUID(), randomUUID(), randomUUID()];
  await sql`INSERT INTO workspaces (id, name) VALUES (${workspaceId}, 'Stored')`.execute(db);
  await sql`
    INSERT INTO projects (id, workspace_id, name, languages, primary_language, address_template) VALUES
      (${projectId}, ${workspaceId}, 'Stored', '{en,es}', 'en', 'https://example.com/{language}/{slug}')`.execute(
    db,
  );
  await sql`
    INSERT INTO webhook_endpoints (id, workspace_id, url, secret, events) VALUES
      (${randomUUID()}, ${workspaceId}, 'http://127.0.0.1:9/', 'whsec_test', '{article.updated}')`.execute(
    db,
  );
  const [targets, linkers, others] = [randomUUID(), randomUUID(), randomUUID()];
  const linkTo = (address: string) => `<p>See <a href="${address}">it</a></p>`;
  /** As an earlier release stored it, with the addresses in its rendering. */
  const store = async (slug: string, language: string, group: string, html: string, ...blocks: object[]) => {
    const id = randomUUID();
    const document = JSON.stringify({ version: 1, blocks });
    await sql`
      INSERT INTO articles (id, workspace_id, project_id, title, slug, status, document, content_html, content_markdown,
        rendered_by, primary_language, translation_group_id) VALUES
      (${id}, ${workspaceId}, ${projectId}, ${slug}, ${slug}, 'PUBLISHED', ${document}, ${html}, 'Stored', 1,
        ${language}, ${group})`.execute(db);
    return id as ArticleId;
  };
  const words = { id: 'p', type: 'paragraph', text: 'See it' };
  const link = (articleId: string) => ({ ...words, links: [{ text: 'it', articleId }] });
  const image = { id: 'i', type: 'image', assetId: imageId, altText: 'Garden' };
  const target = await store('target', 'en', targets, '<p>See it</p>', words);
  const sibling = await store('objetivo', 'es', targets, '<p>See it</p>', words);
  const [english, spanish] = ['https://example.com/en/target', 'https://example.com/es/objetivo'];
  const figure = `<figure><img src="/images/${'0'.repeat(64)}.png" alt="Garden"></figure>`;
  const linker = await store('linker', 'en', linkers, `${linkTo(english)}\n${figure}`, link(target), image);
  const mapped = await store('enlace', 'es', linkers, linkTo(spanish), link(sibling));
  const unmapped = await store('otro', 'es', others, linkTo(english), link(target));
  await sql`
    INSERT INTO assets (id, workspace_id, article_id, role, content_hash, media_type, byte_size, file_name) VALUES
      (${imageId}, ${workspaceId}, ${linker}, 'inline', ${'0'.repeat(64)}, 'image/png', 1, 'a.png')`.execute(
    db,
  );
  const known = JSON.stringify([
    { key: 'title', source: 'old', target: 'old', texts: ['old'], written: ['old'] },
    { key: 'block:b1', source: 'old', target: 'old', texts: [], written: [] },
    { key: 'block:b2', source: 'old', target: null, texts: [], written: [] },
    { key: 'image:i1', source: 'old', target: 'old', texts: [], written: [], assetId: imageId },
  ]);
  for (const id of [mapped, unmapped]) {
    await sql`
      INSERT INTO article_provenance (article_id, workspace_id, units) VALUES (${id}, ${workspaceId}, ${known}::jsonb)`.execute(
      db,
    );
  }

  await migrateToLatest(db);
  // What was compared before is unknown; which units belong together is not.
  const { units } = await db
    .selectFrom('article_provenance')
    .select('units')
    .where('article_id', '=', mapped)
    .executeTakeFirstOrThrow();
  const unknown = { source: '', target: '', shape: '', texts: [], written: [] };
  expect(units).toEqual([
    { ...unknown, key: 'title' },
    { ...unknown, key: 'block:b1', blockId: 'b1' },
    { ...unknown, key: 'block:b2', blockId: 'b2', target: null },
    { ...unknown, key: 'image:i1', assetId: imageId },
  ]);
  const shown = async (id: ArticleId) => {
    const row = await db
      .selectFrom('articles')
      .select(articleColumns)
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    return (await showArticle(db, row)).article;
  };
  const reported = async () => {
    const rows = await db.selectFrom('article_links').select(['article_id', 'leads_to', 'address']).execute();
    return new Map(rows.map(({ article_id, leads_to, address }) => [article_id, [leads_to, address]]));
  };
  expect(await reported()).toEqual(
    new Map([
      [linker, [target, english]],
      [mapped, [sibling, spanish]],
      [unmapped, [target, english]],
    ]),
  );
  const versions = await db.selectFrom('articles').select('id').where('is_translation', '=', true).execute();
  expect(new Set(versions.map(({ id }) => id))).toEqual(new Set([mapped, unmapped]));
  expect(await shown(target)).toMatchObject({ contentHtml: '<p>See it</p>', contentMarkdown: 'See it\n' });
  const shownLinker = await shown(linker);
  const source = assetPath(imageId as AssetId, '0'.repeat(64));
  expect(shownLinker.contentHtml).toBe(
    `${linkTo(english)}\n<figure><img src="${source}" alt="Garden" loading="lazy"></figure>`,
  );
  expect(shownLinker.contentMarkdown).toContain(`See [it](${english})\n\n![Garden](`);
  expect((await shown(mapped)).contentHtml).toBe(linkTo(spanish));
  // The version names the English article, and leads to its Spanish one from now on.
  expect((await shown(unmapped)).contentHtml).toBe(linkTo(spanish));

  for (let round = 0; round < 2; round += 1) {
    await checkAllLinks(db);
    const sent = await db.selectFrom('events').select(['type', 'article_id']).execute();
    expect(sent).toEqual([{ type: 'article.updated', article_id: unmapped }]);
    expect((await reported()).get(unmapped)).toEqual([sibling, spanish]);
  }
});

it('is content with a schema that a later release has changed, and says what to do with an older one', async () => {
  const current = await createTestDatabase();
  onTestFinished(() => current.drop());
  const { rows } = await sql<{ name: string }>`
    SELECT name FROM kysely_migration ORDER BY name DESC LIMIT 1`.execute(current.db);
  const newest = rows[0]?.name;
  await sql`INSERT INTO kysely_migration (name, timestamp) VALUES ('9999_later', '2999-01-01T00:00:00.000Z')`.execute(
    current.db,
  );
  await requireSchema(current.db);
  expect(await migrateToLatest(current.db)).toEqual([]);
  await sql`DELETE FROM kysely_migration WHERE name = ${newest}`.execute(current.db);
  await expect(requireSchema(current.db)).rejects.toThrow(
    `it lacks ${newest}. Run \`npm run migrate\` first.`,
  );
});

it('refuses a Postgres that is too old, and says what to do', async () => {
  await sql`CREATE SCHEMA older`.execute(other);
  await sql`CREATE FUNCTION older.current_setting(text) RETURNS text RETURN '17.6 (Debian 17.6-1)'`.execute(
    other,
  );
  const older = createDatabase({ connectionString: database.url, poolSize: 1 });
  await sql`SET search_path = older, pg_catalog, public`.execute(older);
  await expect(migrateToLatest(older)).rejects.toThrow(
    'DATABASE_URL leads to Postgres 17.6 (Debian 17.6-1); this release needs 18 or later. Upgrade the server',
  );
  await older.destroy();
});

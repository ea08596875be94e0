import { setTimeout as sleep } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { up } from '../../migrations/0023_links.ts';
import { createDatabase, type Database } from '../../src/db/database.ts';
import { migrateDown, migrateToLatest, requireSchema } from '../../src/db/migrate.ts';
import { onlineSteps } from '../../src/db/online.ts';
import { type ArticleId, newId, type ProjectId, type RoleId } from '../../src/ids.ts';
import { createWorkspace } from '../../src/workspaces/create.ts';
import { createArticle } from '../support/articles.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { untilWaiting } from '../translations/support/locks.ts';

let database: TestDatabase;
let other: Database;
beforeEach(async () => {
  database = await createTestDatabase();
  other = createDatabase({ connectionString: database.url, poolSize: 4 });
});
afterEach(async () => {
  await other.destroy();
  await database.drop();
});

/** Takes migrations back until `name` is the next one to be made. */
async function backTo(name: string): Promise<void> {
  for (;;) {
    const [taken] = await migrateDown(database.db);
    if (taken === undefined) throw new Error(`there is no migration ${name}`);
    if (taken === name) return;
  }
}

const indexes = async () =>
  (
    await sql<{ indexdef: string }>`
      SELECT indexdef FROM pg_indexes WHERE tablename = 'roles' ORDER BY indexname`.execute(database.db)
  ).rows.map(({ indexdef }) => indexdef);

it('goes on beside a dump that takes longer, and blocks no other session meanwhile', async () => {
  const before = await indexes();
  const { workspaceId } = await createWorkspace(database.db, { name: 'Acme', credits: 0 });
  await backTo('0014_role_name_keys');
  expect(await indexes()).not.toEqual(before);
  const lines: string[] = [];
  let passed = 0;
  let migrated = false;
  let migrating: Promise<string[]> | undefined;
  await other.transaction().execute(async (dump) => {
    await sql`LOCK TABLE roles, category_names IN ACCESS SHARE MODE`.execute(dump);
    migrating = migrateToLatest(database.db, (line) => lines.push(line)).finally(() => {
      migrated = true;
    });
    while (lines.length < 2) {
      await sql`SELECT count(*) FROM roles`.execute(other);
      await sql`UPDATE roles SET name = name WHERE workspace_id = ${workspaceId}`.execute(other);
      passed += 1;
      await sleep(20);
    }
    expect(migrated).toBe(false);
  });
  expect((await migrating)?.[0]).toBe('0014_role_name_keys');
  expect(await indexes()).toEqual(before);
  expect(lines[0]).toMatch(/^0014_role_name_keys waits for a lock that a longer transaction holds/);
  expect(passed).toBeGreaterThan(10);
});

it('finishes what was cut off in the middle of an index, and two that start together do it once', async () => {
  const before = await indexes();
  await backTo('0014_role_name_keys');
  // What a build leaves behind that was killed: an index that is not valid, under the name it was to have.
  await sql`CREATE INDEX roles_folded_name_key ON roles (id)`.execute(database.db);
  await sql`
    UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'roles_folded_name_key'::regclass`.execute(
    database.db,
  );
  const ran = await Promise.all([migrateToLatest(database.db), migrateToLatest(other)]);
  expect(ran.flat().filter((name) => name === '0014_role_name_keys')).toHaveLength(1);
  expect(await indexes()).toEqual(before);
});

it('is content with a schema that a later release has changed, and says what to do with an older one', async () => {
  await sql`INSERT INTO kysely_migration (name, timestamp) VALUES ('9999_later', '2999-01-01T00:00:00.000Z')`.execute(
    database.db,
  );
  await requireSchema(database.db);
  expect(await migrateToLatest(database.db)).toEqual([]);
  await expect(migrateDown(database.db)).rejects.toThrow(/9999_later was created by a later release/);
  await sql`DELETE FROM kysely_migration WHERE name = '9999_later'`.execute(database.db);
  const [taken] = await migrateDown(database.db);
  await expect(requireSchema(database.db)).rejects.toThrow(
    `it lacks ${taken}. Run \`npm run migrate\` first.`,
  );
});

it('gives stored category names their new key: the older of two that clash keeps it, and both are reported', async () => {
  const { workspaceId } = await createWorkspace(database.db, { name: 'Acme', credits: 0 });
  await backTo('0009_category_name_keys');
  const stored = new Map<string, string>();
  const store = async (name: string, language: string, key: string) => {
    const categoryId = newId();
    const id = newId();
    await sql`INSERT INTO categories (id, workspace_id, primary_language)
      VALUES (${categoryId}, ${workspaceId}, ${language})`.execute(database.db);
    await sql`INSERT INTO category_names (id, workspace_id, category_id, language, name, name_key, slug, created_at)
      VALUES (${id}, ${workspaceId}, ${categoryId}, ${language}, ${name}, ${key}, ${id},
        now() + ${stored.size} * interval '1 second')`.execute(database.db);
    stored.set(`${name} ${language}`, id);
  };
  const keys = async () =>
    Object.fromEntries(
      (
        await sql<{ name: string; language: string; name_key: string }>`
          SELECT name, language, name_key FROM category_names`.execute(database.db)
      ).rows.map(({ name, language, name_key }) => [`${name} ${language}`, name_key]),
    );
  // As they were compared before: upper case, then lower case.
  await store('GROẞ', 'de', 'groß');
  await store('gross', 'de', 'gross');
  await store('STRASSE', 'de', 'strasse');
  await store('STRAẞE', 'de', 'straße');
  await store('Kıl', 'tr', 'kil');
  await store('Garten', 'de', 'garten');
  const before = await keys();
  const lines: string[] = [];
  await migrateToLatest(database.db, (line) => lines.push(line));
  expect(await keys()).toEqual({
    'GROẞ de': 'gross',
    'gross de': `gross DUPLICATE ${stored.get('gross de')}`,
    'STRASSE de': 'strasse',
    'STRAẞE de': `strasse DUPLICATE ${stored.get('STRAẞE de')}`,
    'Kıl tr': 'kıl',
    'Garten de': 'garten',
  });
  expect(lines).toHaveLength(2);
  for (const [older, younger] of [
    ['GROẞ', 'gross'],
    ['STRASSE', 'STRAẞE'],
  ]) {
    const line = lines.find((text) => text.includes(`"${older}"`));
    expect(line).toContain(`"${older}" (${stored.get(`${older} de`)}) and "${younger}"`);
  }
  await backTo('0009_category_name_keys');
  expect(await keys()).toEqual(before);
});

it('of roles whose names differ in case only, the oldest keeps the name, the others stay beside it, and both are reported', async () => {
  const { workspaceId } = await createWorkspace(database.db, { name: 'Acme', credits: 0 });
  await backTo('0014_role_name_keys');
  const roles = ['Writer', 'WRITER', 'owner', 'Reader'].map((name) => ({ id: newId<RoleId>(), name }));
  for (const [minute, { id, name }] of roles.entries()) {
    await sql`
      INSERT INTO roles (id, workspace_id, name, permissions, created_at)
      VALUES (${id}, ${workspaceId}, ${name}, '{}', now() + ${minute} * interval '1 minute')`.execute(
      database.db,
    );
  }
  const lines: string[] = [];
  await migrateToLatest(database.db, (line) => lines.push(line));
  const rows = await database.db
    .selectFrom('roles')
    .select(['id', 'name', 'name_key'])
    .where('built_in', '=', false)
    .orderBy('created_at')
    .execute();
  const [, second, third] = roles;
  expect(rows.map(({ name, name_key }) => [name, name_key])).toEqual([
    ['Writer', 'writer'],
    ['WRITER', `writer DUPLICATE ${second?.id}`],
    ['owner', `owner DUPLICATE ${third?.id}`],
    ['Reader', 'reader'],
  ]);
  expect(lines).toEqual([
    expect.stringMatching(/"Writer" .*"WRITER"/),
    expect.stringMatching(/"Owner" .*"owner"/),
  ]);
});

it('lists the links of articles that are there before, whoever deletes one of them meanwhile', async () => {
  const { workspaceId } = await createWorkspace(database.db, { name: 'Acme', credits: 0 });
  const projectId = newId<ProjectId>();
  await sql`INSERT INTO projects (id, workspace_id, name, primary_language, languages)
    VALUES (${projectId}, ${workspaceId}, 'Blog', 'en', '{en}')`.execute(database.db);
  const articleId = newId<ArticleId>();
  const links = [{ text: 'there', articleId }];
  const document = {
    version: 1 as const,
    blocks: [{ id: 'p', type: 'paragraph' as const, text: 'there', links }],
  };
  const make = async (title: string) =>
    (await createArticle(database.db, { id: workspaceId }, projectId, { title, document })).id;
  const [kept, deleted] = [await make('Kept'), await make('Deleted')];
  // All of the migration but the links has been done already, as when it was cut off.
  await sql`DELETE FROM article_links`.execute(database.db);
  let migrating: Promise<void> | undefined;
  await other.transaction().execute(async (tx) => {
    await sql`SELECT FROM articles WHERE id = ${deleted} FOR UPDATE`.execute(tx);
    migrating = database.db.connection().execute((one) => {
      const connection = one as unknown as Kysely<unknown>;
      return up(
        connection,
        onlineSteps(connection, 'links', () => undefined),
      );
    });
    await untilWaiting(database.db, 1);
    await sql`DELETE FROM articles WHERE id = ${deleted}`.execute(tx);
  });
  await migrating;
  expect(await database.db.selectFrom('article_links').select(['article_id', 'target_id']).execute()).toEqual(
    [{ article_id: kept, target_id: articleId }],
  );
});

it('gives names that an older process wrote after the migration their key at the next start', async () => {
  const { workspaceId } = await createWorkspace(database.db, { name: 'Acme', credits: 0 });
  const role = async (name: string, key: string | null) =>
    sql`INSERT INTO roles (id, workspace_id, name, built_in, permissions, name_key)
        VALUES (${newId()}, ${workspaceId}, ${name}, false, '{}', ${key})`.execute(database.db);
  await role('Taken', 'taken');
  await role('TAKEN', null);
  await role('Straße', null);
  const category = newId();
  await sql`INSERT INTO categories (id, workspace_id, primary_language) VALUES (${category}, ${workspaceId}, 'de')`.execute(
    database.db,
  );
  await sql`INSERT INTO category_names (id, workspace_id, category_id, language, name, name_key, slug)
            VALUES (${newId()}, ${workspaceId}, ${category}, 'de', 'GROẞ', 'groß', 'gross')`.execute(
    database.db,
  );
  const lines: string[] = [];
  expect(await migrateToLatest(database.db, (line) => lines.push(line))).toEqual([]);
  const { rows } = await sql<{ name: string; name_key: string }>`
    SELECT name, name_key FROM roles WHERE NOT built_in
    UNION ALL SELECT name, name_key FROM category_names ORDER BY name`.execute(database.db);
  expect(Object.fromEntries(rows.map(({ name, name_key }) => [name, name_key]))).toEqual({
    Taken: 'taken',
    TAKEN: expect.stringMatching(/^taken DUPLICATE /),
    Straße: 'strasse',
    GROẞ: 'gross',
  });
  expect(lines).toEqual([expect.stringContaining('"TAKEN"')]);
  lines.length = 0;
  await migrateToLatest(database.db, (line) => lines.push(line));
  expect(lines).toEqual([]);
});

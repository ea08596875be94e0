import { readdirSync, readFileSync } from 'node:fs';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

interface Column {
  readonly name: string;
  readonly nullable: boolean;
}

/** What src/db/tables/ says: each table's columns and whether reading one can give null. */
function declaredTables(): Map<string, Column[]> {
  const folder = new URL('../../src/db/tables/', import.meta.url);
  const body = readdirSync(folder)
    .map((name) => readFileSync(new URL(name, folder), 'utf8'))
    .join('\n');
  const tables = new Map<string, Column[]>();
  for (const [, table = '', columns = ''] of body.matchAll(/^ {2}(\w+): \{\n([\s\S]*?)^ {2}\};/gm)) {
    tables.set(
      table,
      [...columns.matchAll(/^ {4}(\w+): (.+);$/gm)]
        .map(([, name = '', type = '']) => ({ name, nullable: /^Nullable|\| null/.test(type) }))
        .sort((a, b) => a.name.localeCompare(b.name)),
    );
  }
  return tables;
}

async function migratedTables(): Promise<Map<string, Column[]>> {
  const { rows } = await sql<{ table_name: string; column_name: string; is_nullable: 'YES' | 'NO' }>`
    SELECT table_name, column_name, is_nullable FROM information_schema.columns
    WHERE table_schema = 'public' AND table_name NOT LIKE 'kysely%'
      AND table_name NOT IN (SELECT relname FROM pg_class WHERE relispartition)
  `.execute(database.db);
  const tables = new Map<string, Column[]>();
  for (const row of rows) {
    const columns = tables.get(row.table_name) ?? [];
    columns.push({ name: row.column_name, nullable: row.is_nullable === 'YES' });
    tables.set(row.table_name, columns);
  }
  for (const columns of tables.values()) columns.sort((a, b) => a.name.localeCompare(b.name));
  return tables;
}

it('the typed tables and the migrated schema have the same tables, columns and nulls', async () => {
  const sorted = (tables: Map<string, Column[]>) => Object.fromEntries([...tables].sort());
  expect(sorted(declaredTables())).toEqual(sorted(await migratedTables()));
});

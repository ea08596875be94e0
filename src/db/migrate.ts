import { promises as fs } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { sql } from 'kysely';
import { type Migration, type MigrationProvider, type MigrationResultSet, Migrator } from 'kysely/migration';
import type { Database } from './database.ts';

const folder = fileURLToPath(new URL('../../migrations', import.meta.url));

const provider: MigrationProvider = {
  async getMigrations() {
    const migrations: Record<string, Migration> = {};
    for (const file of (await fs.readdir(folder)).filter((name) => name.endsWith('.ts')).sort()) {
      migrations[path.basename(file, '.ts')] = (await import(
        pathToFileURL(path.join(folder, file)).href
      )) as Migration;
    }
    return migrations;
  },
};

function finish({ error, results }: MigrationResultSet): string[] {
  if (error !== undefined) throw error;
  return (results ?? []).map((result) => result.migrationName);
}

/**
 * Brings the schema to the newest version and returns the names of the migrations it ran. Processes that
 * start together wait for each other on Kysely's lock.
 * @throws when the database's encoding is not UTF8, where lengths and names would be counted in bytes
 */
export async function migrateToLatest(db: Database): Promise<string[]> {
  const { rows } = await sql<{ encoding: string }>`
    SELECT pg_encoding_to_char(encoding) AS encoding FROM pg_database WHERE datname = current_database()
  `.execute(db);
  const encoding = rows[0]?.encoding;
  if (encoding !== 'UTF8') {
    throw new Error(
      `DATABASE_URL names a database encoded as ${encoding}; create one with ENCODING 'UTF8' and use that.`,
    );
  }
  return finish(await new Migrator({ db, provider }).migrateToLatest());
}

/** Takes back the newest migration, and returns its name in a list (empty when there was none). */
export async function migrateDown(db: Database): Promise<string[]> {
  return finish(await new Migrator({ db, provider }).migrateDown());
}

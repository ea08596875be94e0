import { type RawBuilder, sql } from 'kysely';
import { nameKey } from '../name-key.ts';
import type { Database } from './database.ts';
import { uniqueViolation } from './errors.ts';
import type { Note } from './online.ts';

const BATCH = 5_000;
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

interface Row {
  readonly id: string;
  readonly name: string;
  readonly name_key: string | null;
}

/** Where names are kept with a key, and which of them the previous release may have written without the right one. */
const TABLES: readonly { readonly table: string; readonly doubtful: RawBuilder<unknown> }[] = [
  // In ASCII the releases agree; a name with a disambiguating suffix keeps it.
  {
    table: 'category_names',
    doubtful: sql`octet_length(name) <> char_length(name) AND name_key !~ '(OLD|DUPLICATE) '`,
  },
  { table: 'roles', doubtful: sql`name_key IS NULL` },
];

/**
 * Gives names their comparison key where a process of the previous release, still running after the migration, wrote
 * another or none. A name whose key is taken by then gets a suffix that no name can have, and stays beside the other
 * one until it is renamed. Row by row, so that no one waits long and it can be interrupted anywhere.
 */
export async function refreshNameKeys(db: Database, note: Note): Promise<void> {
  for (const { table, doubtful } of TABLES) {
    for (let after = BEFORE_ALL; ; ) {
      const { rows } = await sql<Row>`
        SELECT id, name, name_key FROM ${sql.table(table)}
        WHERE id > ${after}::uuid AND ${doubtful} ORDER BY id LIMIT ${BATCH}`.execute(db);
      for (const row of rows) if (nameKey(row.name) !== row.name_key) await refresh(db, table, row, note);
      const last = rows.at(-1);
      if (last === undefined) break;
      after = last.id;
    }
  }
}

async function refresh(db: Database, table: string, { id, name }: Row, note: Note): Promise<void> {
  const set = (key: string) =>
    sql`UPDATE ${sql.table(table)} SET name_key = ${key} WHERE id = ${id}::uuid AND name = ${name}`.execute(
      db,
    );
  try {
    await set(nameKey(name));
  } catch (error) {
    if (uniqueViolation(error) === null) throw error;
    await set(`${nameKey(name)} DUPLICATE ${id}`);
    note(
      `${table}: another one has the same name as "${name}" (${id}); both stay until one of them is renamed`,
    );
  }
}

import { type Kysely, sql } from 'kysely';

/** How names are compared from now on: src/categories/names.ts as it was when this was written. */
const foldedKey = (name: string): string =>
  name
    .normalize('NFC')
    .toLowerCase()
    .split('ı')
    .map((part) => part.toUpperCase().toLowerCase())
    .join('ı')
    .normalize('NFC');

/** How they were compared before. */
const upperKey = (name: string): string => name.normalize('NFC').toUpperCase().toLowerCase().normalize('NFC');

const BATCH = 5_000;

interface Row {
  readonly id: string;
  readonly workspace_id: string;
  readonly language: string;
  readonly name: string;
  readonly name_key: string;
}

/** The names whose key is another one by `keyOf`. In ASCII all agree, but for what was told apart by a suffix. */
async function moved(db: Kysely<unknown>, keyOf: (name: string) => string): Promise<Row[]> {
  const found: Row[] = [];
  for (let after = '00000000-0000-0000-0000-000000000000'; ; ) {
    const { rows } = await sql<Row>`
      SELECT id, workspace_id, language, name, name_key FROM category_names
      WHERE id > ${after}::uuid AND (octet_length(name) <> char_length(name) OR name_key ~ '[A-Z]')
      ORDER BY id LIMIT ${BATCH}`.execute(db);
    found.push(...rows.filter((row) => keyOf(row.name) !== row.name_key));
    const last = rows.at(-1);
    if (last === undefined) return found;
    after = last.id;
  }
}

const setKey = (db: Kysely<unknown>, id: string, key: string) =>
  sql`UPDATE category_names SET name_key = ${key} WHERE id = ${id}`.execute(db);

/**
 * Gives names the key they are compared by from now on. Of several that only become equal by it, the oldest keeps the
 * key; each other one gets a suffix that no name can have, for keys hold no capital letters. Its name stays, and the
 * next one that is given to it has to be free. Both are told.
 */
async function rekey(
  db: Kysely<unknown>,
  note: (line: string) => void,
  keyOf: (name: string) => string,
): Promise<void> {
  // Names are written by nobody meanwhile, and read by everybody.
  await sql`LOCK TABLE category_names IN SHARE ROW EXCLUSIVE MODE`.execute(db);
  const groups = new Map<string, { readonly row: Row; readonly key: string }>();
  for (const row of await moved(db, keyOf)) {
    const key = keyOf(row.name);
    groups.set(JSON.stringify([row.workspace_id, row.language, key]), { row, key });
    // Out of the way, so that names which trade keys don't meet.
    await setKey(db, row.id, `${key} OLD ${row.id}`);
  }
  for (const { row, key } of groups.values()) {
    const { rows } = await sql<Row>`
      SELECT id, workspace_id, language, name, name_key FROM category_names
      WHERE workspace_id = ${row.workspace_id} AND language = ${row.language}
        AND (name_key = ${key} OR starts_with(name_key, ${`${key} OLD `}))
      ORDER BY created_at, id`.execute(db);
    const [oldest, ...younger] = rows;
    if (oldest === undefined) continue;
    for (const other of younger) {
      await setKey(db, other.id, `${key} DUPLICATE ${other.id}`);
      note(
        `workspace ${row.workspace_id}: the category names "${oldest.name}" (${oldest.id}) and "${other.name}" ` +
          `(${other.id}) in ${row.language} are the same from now on; the older one, "${oldest.name}", ` +
          'keeps the place and the other one stays beside it until it is renamed',
      );
    }
    await setKey(db, oldest.id, key);
  }
}

/** Compares names by Unicode's case folding: ẞ is ß, and the Turkish ı is not i. */
export const up = (db: Kysely<unknown>, note: (line: string) => void): Promise<void> =>
  rekey(db, note, foldedKey);

export const down = (db: Kysely<unknown>, note: (line: string) => void): Promise<void> =>
  rekey(db, note, upperKey);

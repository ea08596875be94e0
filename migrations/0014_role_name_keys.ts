import { type Kysely, sql } from 'kysely';
import type { OnlineSteps } from '../src/db/online.ts';

/** Every request reads roles. */
export const online = true;

const BATCH = 500;

/** How names are compared: src/name-key.ts as it was when this was written. */
const foldedKey = (name: string): string =>
  name
    .normalize('NFC')
    .toLowerCase()
    .split('ı')
    .map((part) => part.toUpperCase().toLowerCase())
    .join('ı')
    .normalize('NFC');

interface Row {
  readonly id: string;
  readonly workspace_id: string;
  readonly name: string;
}

/** The roles of the next workspaces after one, built-in roles first, then the oldest. */
async function rolesAfter(db: Kysely<unknown>, workspaceId: string): Promise<Row[]> {
  const { rows } = await sql<Row>`
    SELECT id, workspace_id, name FROM roles
    WHERE workspace_id IN (
      SELECT DISTINCT workspace_id FROM roles WHERE workspace_id > ${workspaceId}::uuid ORDER BY 1 LIMIT ${BATCH}
    )
    ORDER BY workspace_id, built_in DESC, created_at, id`.execute(db);
  return rows;
}

/**
 * Gives each role the key its name is compared by. Of several that are only told apart by case, the first one keeps
 * the key; each other one gets a suffix that no name can have, for keys hold no capital letters. Its name stays, and
 * the next one that is given to it has to be free. Both are told. The column may stay empty: the release before
 * writes none.
 */
export async function up(db: Kysely<unknown>, { alter, createIndex, note }: OnlineSteps): Promise<void> {
  await alter(sql`ALTER TABLE roles ADD COLUMN IF NOT EXISTS name_key text`);
  for (let after = '00000000-0000-0000-0000-000000000000'; ; ) {
    const rows = await rolesAfter(db, after);
    const first = new Map<string, Row>();
    const keys = rows.map((row) => {
      const key = foldedKey(row.name);
      const place = `${row.workspace_id} ${key}`;
      const holder = first.get(place);
      if (holder === undefined) {
        first.set(place, row);
        return key;
      }
      note(
        `workspace ${row.workspace_id}: the roles "${holder.name}" (${holder.id}) and "${row.name}" (${row.id}) have ` +
          `the same name from now on; "${holder.name}" keeps the place and the other one stays beside it until it is renamed`,
      );
      return `${key} DUPLICATE ${row.id}`;
    });
    await sql`
      UPDATE roles SET name_key = given.name_key
      FROM unnest(${rows.map(({ id }) => id)}::uuid[], ${rows.map(({ name }) => name)}::text[], ${keys}::text[])
        AS given (id, name, name_key)
      WHERE roles.id = given.id AND roles.name = given.name`.execute(db);
    const last = rows.at(-1);
    if (last === undefined) break;
    after = last.workspace_id;
  }
  await createIndex('roles_folded_name_key', 'ON roles (workspace_id, name_key)', 'UNIQUE');
}

export async function down(_db: Kysely<unknown>, { alter, dropIndex }: OnlineSteps): Promise<void> {
  await dropIndex('roles_folded_name_key');
  await alter(sql`ALTER TABLE roles DROP COLUMN IF EXISTS name_key`);
}

import { type Kysely, sql } from 'kysely';
import type { OnlineSteps } from '../src/db/online.ts';

/** Every request reads roles. */
export const online = true;

/** The key that a role's name is compared by. */
export async function up(_db: Kysely<unknown>, { alter, createIndex }: OnlineSteps): Promise<void> {
  await alter(sql`ALTER TABLE roles ADD COLUMN IF NOT EXISTS name_key text`);
  await createIndex('roles_folded_name_key', 'ON roles (workspace_id, name_key)', 'UNIQUE');
}

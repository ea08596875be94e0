import { type Kysely, sql } from 'kysely';
import type { OnlineSteps } from '../src/db/online.ts';

/** Every request reads roles, and every batch of a translation writes segments. */
export const online = true;

/** What each row has. Names of roles are compared by their keys alone. */
export async function up(_db: Kysely<unknown>, { alter }: OnlineSteps): Promise<void> {
  await alter(
    sql`ALTER TABLE roles ALTER COLUMN name_key SET NOT NULL, DROP CONSTRAINT IF EXISTS roles_name_key`,
  );
  await alter(sql`
    ALTER TABLE translation_segments
      ALTER COLUMN words SET NOT NULL, ALTER COLUMN kind SET NOT NULL, ALTER COLUMN position SET NOT NULL,
      ALTER COLUMN text_key SET NOT NULL, ALTER COLUMN made_by SET NOT NULL`);
}

import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { createDatabase, type Database } from '../../src/db/database.ts';
import { databaseUrl, withServer } from './database-url.ts';

export interface TestDatabase {
  readonly db: Database;
  readonly url: string;
  /** Closes the pool and drops the database. */
  drop(): Promise<void>;
}

/** A database of the caller's own: a clone of the migrated template, or of `template0`, which is empty. */
export async function createTestDatabase(
  template: 'template_wcs' | 'template0' = 'template_wcs',
): Promise<TestDatabase> {
  const serverUrl = inject('serverUrl');
  const name = `wcs_${randomBytes(6).toString('hex')}`;
  await withServer(serverUrl, async (client) => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        // The files as they are: half the cost of writing each page to the log first.
        await client.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
        return;
      } catch (error) {
        // Two files cloning at the same moment: the template may have only one reader.
        if (attempt === 50) throw error;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  });
  const url = databaseUrl(serverUrl, name);
  const db = createDatabase({ connectionString: url });
  return {
    db,
    url,
    async drop() {
      await db.destroy();
      await withServer(serverUrl, (client) => client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
    },
  };
}

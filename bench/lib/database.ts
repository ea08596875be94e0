import { migrate, temporaryFolder } from '../../soak/support/engines.ts';
import { createDatabase, type Database } from '../../src/db/database.ts';
import { withEmbeddedDatabase } from '../../src/local/embedded-database.ts';

/**
 * Runs a measurement on a Postgres of its own, migrated, without Temporal and without a limit on statements, which are
 * prepared as by the server.
 */
export async function withBenchDatabase(measure: (db: Database) => Promise<void>): Promise<void> {
  const folder = temporaryFolder();
  try {
    await withEmbeddedDatabase(folder.path, async (connectionString) => {
      await migrate(connectionString);
      const db = createDatabase({
        connectionString,
        poolSize: 2,
        statementTimeout: 0,
        prepareStatements: true,
      });
      await measure(db).finally(() => db.destroy());
    });
  } finally {
    folder.remove();
  }
}

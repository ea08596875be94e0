import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { BlobStore } from '../blobs/blob-store.ts';
import { createBlobStore } from '../blobs/create.ts';
import type { Config } from '../config.ts';
import type { VerbContext } from '../context.ts';
import { createDatabase, type Database } from '../db/database.ts';
import { migrateToLatest, requireSchema } from '../db/migrate.ts';
import { errorMessage } from '../error-text.ts';
import { DELIVERIES_CHANNEL, deliveriesStored } from '../events/stored.ts';
import type { WorkspaceId } from '../ids.ts';
import { withEmbeddedDatabase } from '../local/embedded-database.ts';
import { checkDatabase } from '../local/postgres.ts';
import type { MediaProcessor } from '../media/media.ts';
import { createMediaProcessor } from '../media/processor.ts';
import { withAuthority } from '../roles/present-authority.ts';
import { operatorName } from './operator.ts';

/** What a command works with. */
export interface Session {
  readonly db: Database;
  readonly blobs: BlobStore;
  readonly media: MediaProcessor;
  /** Who runs the command. */
  readonly operator: string;
  /** The operator acting in a workspace. */
  readonly operatorOf: (workspaceId: WorkspaceId) => VerbContext;
}

/** A line for the person at the terminal. Never on stdout, which holds only the result. */
export const note = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

/**
 * Runs `use` on the database of DATABASE_URL, else on the embedded one of DATA_DIR, running or not. Statements have no
 * time limit: a migration may build an index.
 * @throws Error that names DATABASE_URL when it can't be reached
 */
export async function withDatabase<Result>(
  config: Pick<Config, 'DATABASE_URL' | 'DATA_DIR'>,
  use: (db: Database) => Promise<Result>,
): Promise<Result> {
  const connect = async (connectionString: string): Promise<Result> => {
    const db = createDatabase({
      connectionString,
      poolSize: 2,
      statementTimeout: 0,
      applicationName: 'workspace-content-service-admin',
    });
    try {
      return await use(db);
    } finally {
      await db.destroy();
    }
  };
  if (config.DATABASE_URL === undefined) return withEmbeddedDatabase(config.DATA_DIR, connect, note);
  await checkDatabase(config.DATABASE_URL);
  return connect(config.DATABASE_URL);
}

/**
 * `withDatabase` on a schema that has what this release needs. The embedded database is migrated, so that the first
 * command on a fresh one works. Any other is migrated by `npm run migrate` alone: others may be using it.
 * @throws Error that says so when the schema is older
 */
export const withSession = <Result>(
  config: Config,
  use: (session: Session) => Promise<Result>,
): Promise<Result> =>
  withDatabase(config, async (db) => {
    if (config.DATABASE_URL === undefined) await migrateToLatest(db, note, config.PARTITION_MINUTES);
    else await requireSchema(db);
    const operator = operatorName(config);
    const blobs = await createBlobStore(config);
    const media = createMediaProcessor({
      logger: { error: (_about: object, message: string) => note(message) },
    });
    let stored = false;
    const unsubscribe = deliveriesStored.subscribe(() => {
      stored = true;
    });
    try {
      return await use({
        db,
        blobs,
        media,
        operator,
        operatorOf: (workspaceId) => {
          const actor = { kind: 'operator', workspaceId, name: operator } as const;
          return { db: withAuthority(db, actor), actor, requestId: randomUUID() };
        },
      });
    } finally {
      unsubscribe();
      await media.close();
      await blobs.close();
      // Relays also poll, only later.
      if (stored) await sql`NOTIFY ${sql.raw(DELIVERIES_CHANNEL)}`.execute(db).catch(() => undefined);
    }
  });

/** Prints to stderr why a command failed and sets exit status 1. */
export function reportFailure(error: unknown): void {
  note(`error: ${errorMessage(error)}`);
  process.exitCode = 1;
}

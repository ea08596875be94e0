import type { PostgresEngine } from '../../../src/local/postgres.ts';

/** A way to back a running Postgres up. */
export interface BackupMethod {
  /** With an article: `a dump`. */
  readonly name: string;
  /** Takes a backup of the server, which goes on serving, into a new folder. */
  take(source: PostgresEngine, folder: string): Promise<Backup>;
}

export interface Backup {
  /** Starts a new server in the folder, with nothing but what was saved. */
  restore(folder: string): Promise<PostgresEngine>;
}

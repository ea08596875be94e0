import { connectionName, createPool } from './database.ts';

const CONNECT_TIMEOUT_MS = 1_500;
const STATEMENT_TIMEOUT_MS = 1_000;

export interface DatabaseProbe {
  /** Resolves when Postgres responds and accepts writes. @throws when it does not, after 3 seconds at most */
  readonly check: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Probes Postgres on its own connection, so that a busy pool does not make it seem down. */
export function createDatabaseProbe(connectionString: string): DatabaseProbe {
  const pool = createPool({
    connectionString,
    poolSize: 1,
    applicationName: connectionName('readiness'),
    statementTimeout: STATEMENT_TIMEOUT_MS,
    connectTimeout: CONNECT_TIMEOUT_MS,
  });
  return {
    async check() {
      const { rows } = await pool.query<{ standby: boolean }>('SELECT pg_is_in_recovery() AS standby');
      if (rows[0]?.standby !== false) throw new Error('Postgres is a standby: it accepts no writes');
    },
    close: () => pool.end(),
  };
}

import type { Logger } from 'pino';
import type { ConnectedConfig } from '../config.ts';
import { connectionName, createDatabase, type Database } from '../db/database.ts';

/** Connections for claims and attempts. */
const DELIVERY_CONNECTIONS = 4;

/**
 * The pool of the delivery engine. Its few statements are planned once per connection, and only as walks along indexes:
 * a plan that scans, sorts or hashes is the best one for an empty table, and would be kept when it is large.
 */
export const createDeliveryDatabase = (config: ConnectedConfig, logger: Logger): Database =>
  createDatabase({
    connectionString: config.DATABASE_DIRECT_URL ?? config.DATABASE_URL,
    poolSize: DELIVERY_CONNECTIONS,
    statementTimeout: config.DATABASE_STATEMENT_TIMEOUT_SECONDS * 1_000,
    applicationName: connectionName('deliveries'),
    prepareStatements: true,
    settings: {
      enable_seqscan: 'off',
      enable_bitmapscan: 'off',
      enable_hashjoin: 'off',
      enable_mergejoin: 'off',
      plan_cache_mode: 'force_generic_plan',
    },
    onError: (error) => logger.warn({ err: error }, 'database connection lost'),
  });

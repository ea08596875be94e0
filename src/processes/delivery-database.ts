import type { Logger } from 'pino';
import type { ConnectedConfig } from '../config.ts';
import { connectionName, createDatabase, type Database } from '../db/database.ts';

/** Connections for claims and attempts. */
const DELIVERY_CONNECTIONS = 4;

/**
 * A pool of a loop whose few statements are planned once per connection, and only as walks along indexes: a plan that
 * scans, sorts or hashes is the best one for an empty table, and would be kept when it is large.
 */
const createLoopDatabase = (
  config: ConnectedConfig,
  logger: Logger,
  { name, connections }: { readonly name: string; readonly connections: number },
): Database =>
  createDatabase({
    connectionString: config.DATABASE_DIRECT_URL ?? config.DATABASE_URL,
    poolSize: connections,
    statementTimeout: config.DATABASE_STATEMENT_TIMEOUT_SECONDS * 1_000,
    applicationName: connectionName(name),
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

/** The pool of the delivery engine. */
export const createDeliveryDatabase = (config: ConnectedConfig, logger: Logger): Database =>
  createLoopDatabase(config, logger, { name: 'deliveries', connections: DELIVERY_CONNECTIONS });

/** The sequencer's connection: it waits for no other work of the worker. */
export const createSequencerDatabase = (config: ConnectedConfig, logger: Logger): Database =>
  createLoopDatabase(config, logger, { name: 'sequencer', connections: 1 });

/** The connection of the loop that keeps backlogs: a step of it may take as long as a hundred claims. */
export const createBacklogDatabase = (config: ConnectedConfig, logger: Logger): Database =>
  createLoopDatabase(config, logger, { name: 'backlogs', connections: 1 });

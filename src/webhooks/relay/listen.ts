import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from 'pino';
import { connectionName, createPool } from '../../db/database.ts';
import { DELIVERIES_CHANNEL, OWN_NOTICE } from '../../events/stored.ts';

const RECONNECT_MS = 1_000;
/** A connection that only listens would not notice that nobody speaks: it asks this often. In milliseconds. */
const ASK_MS = 10_000;
/** Milliseconds that Postgres may take to answer that. */
const STATEMENT_TIMEOUT_MS = 5_000;

export interface ListenOptions {
  /** A connection string that reaches Postgres itself: LISTEN does not pass through a pooler. */
  readonly listenUrl: string;
  readonly logger: Logger;
  /** Called whenever another process may have stored deliveries. */
  readonly onStored: () => void;
}

/**
 * Hears of deliveries that other processes have stored, until the signal: on a connection of its own, made anew whenever
 * it is lost. The relay polls as well.
 */
export async function listenForDeliveries(options: ListenOptions, signal: AbortSignal): Promise<void> {
  const pool = createPool({
    connectionString: options.listenUrl,
    poolSize: 1,
    applicationName: connectionName('relay'),
    statementTimeout: STATEMENT_TIMEOUT_MS,
  });
  while (!signal.aborted) {
    try {
      const connection = await pool.connect();
      try {
        await listenOn(connection, options, signal);
      } finally {
        connection.release(true);
      }
    } catch (error) {
      options.logger.warn({ err: error }, 'not listening for new deliveries; polling instead');
    }
    await sleep(RECONNECT_MS, undefined, { signal }).catch(() => undefined);
  }
  await pool.end();
}

/** Resolves at the signal. @throws when the connection is lost */
async function listenOn(
  connection: pg.PoolClient,
  { onStored }: ListenOptions,
  signal: AbortSignal,
): Promise<void> {
  connection.on('notification', ({ payload }) => {
    if (payload !== OWN_NOTICE) onStored();
  });
  const over = new AbortController();
  let lost: Error | undefined;
  const end = (error?: Error) => {
    lost ??= error;
    over.abort();
  };
  connection.on('error', end);
  connection.on('end', () => end(new Error('Connection terminated')));
  await connection.query(`LISTEN ${DELIVERIES_CHANNEL}`);
  onStored();
  const either = AbortSignal.any([signal, over.signal]);
  while (!either.aborted) {
    await sleep(ASK_MS, undefined, { signal: either }).catch(() => undefined);
    if (!either.aborted) await connection.query('SELECT 1');
  }
  if (lost !== undefined && !signal.aborted) throw lost;
}

import type pg from 'pg';
import type { Logger } from 'pino';
import { connectionName, createPool } from '../db/database.ts';
import { pause } from '../pause.ts';
import { DELIVERIES_CHANNEL, OWN_NOTICE } from './stored.ts';

const RECONNECT_MS = 1_000;
/** A connection that only listens would not notice that nobody speaks: it asks this often, and waits as long. */
const ASK_MS = 10_000;

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
export async function listenForDeliveries(
  { listenUrl, logger, onStored }: ListenOptions,
  signal: AbortSignal,
): Promise<void> {
  const pool = createPool({
    connectionString: listenUrl,
    poolSize: 1,
    applicationName: connectionName('relay'),
    statementTimeout: ASK_MS,
  });
  while (!signal.aborted) {
    let connection: pg.PoolClient | undefined;
    try {
      connection = await pool.connect();
      const lost = new AbortController();
      connection.on('error', () => lost.abort()).on('end', () => lost.abort());
      connection.on('notification', ({ payload }) => {
        if (payload !== OWN_NOTICE) onStored();
      });
      await connection.query(`LISTEN ${DELIVERIES_CHANNEL}`);
      onStored();
      const either = AbortSignal.any([signal, lost.signal]);
      while (!signal.aborted) {
        await pause(ASK_MS, either);
        // On a lost connection it throws.
        if (!signal.aborted) await connection.query('SELECT 1');
      }
    } catch (error) {
      logger.warn({ err: error }, 'not listening for new deliveries; polling instead');
    } finally {
      connection?.release(true);
    }
    await pause(RECONNECT_MS, signal);
  }
  await pool.end();
}

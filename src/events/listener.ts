import type pg from 'pg';
import type { Logger } from 'pino';
import { connectionName, createPool } from '../db/database.ts';
import { pause } from '../pause.ts';
import { DELIVERIES_CHANNEL, EVENTS_CHANNEL, eventsQueued, OWN_NOTICE } from './stored.ts';

const RECONNECT_MS = 1_000;
/** A connection that only listens does not notice a silent peer: it queries this often, with this timeout. */
const PROBE_MS = 10_000;

export interface ListenOptions {
  /** A connection string that reaches Postgres itself: LISTEN does not pass through a pooler. */
  readonly listenUrl: string;
  readonly logger: Logger;
  /** Called when another process may have stored deliveries. */
  readonly onStored: () => void;
}

/**
 * Listens for events and deliveries stored by other processes, until the signal, on a connection of its own that is
 * reopened whenever it is lost. Signals events to this process's sequencer. Sequencer and relay poll as well.
 */
export async function listenForDeliveries(
  { listenUrl, logger, onStored }: ListenOptions,
  signal: AbortSignal,
): Promise<void> {
  const pool = createPool({
    connectionString: listenUrl,
    poolSize: 1,
    applicationName: connectionName('relay'),
    statementTimeout: PROBE_MS,
  });
  while (!signal.aborted) {
    let connection: pg.PoolClient | undefined;
    try {
      connection = await pool.connect();
      const lost = new AbortController();
      connection.on('error', () => lost.abort()).on('end', () => lost.abort());
      connection.on('notification', ({ channel, payload }) => {
        if (payload === OWN_NOTICE) return;
        eventsQueued.notify();
        if (channel === DELIVERIES_CHANNEL) onStored();
      });
      await connection.query(`LISTEN ${DELIVERIES_CHANNEL}`);
      await connection.query(`LISTEN ${EVENTS_CHANNEL}`);
      eventsQueued.notify();
      onStored();
      const either = AbortSignal.any([signal, lost.signal]);
      while (!signal.aborted) {
        await pause(PROBE_MS, either);
        // Throws on a lost connection.
        if (!signal.aborted) await connection.query('SELECT 1');
      }
    } catch (error) {
      logger.warn({ err: error }, 'not listening for new events; polling instead');
    } finally {
      connection?.release(true);
    }
    await pause(RECONNECT_MS, signal);
  }
  await pool.end();
}

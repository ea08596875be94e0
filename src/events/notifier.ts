import type { Logger } from 'pino';
import { connectionName, createPool } from '../db/database.ts';
import { pause } from '../pause.ts';
import { DELIVERIES_CHANNEL, deliveriesStored, OWN_NOTICE } from './stored.ts';

/** Milliseconds between two notices: what commits meanwhile is in the second. */
const INTERVAL_MS = 10;
/** The same after one that failed. */
const RETRY_MS = 1_000;
/** Milliseconds that Postgres gets for a connection, and for a notice. */
const TIMEOUT_MS = 2_000;

export interface DeliveryNotifierOptions {
  readonly connectionString: string;
  readonly logger: Logger;
}

export interface DeliveryNotifier {
  /** Sends what is still to be sent, and closes the connection: within a few seconds. It may be called again. */
  stop(): Promise<void>;
}

/** The server and the worker of one process share one. */
const running = new Map<string, { users: number; readonly notifier: DeliveryNotifier }>();

/**
 * Tells the relays of other processes that this one has stored deliveries, outside of any transaction: Postgres takes
 * transactions that notify one after the other. Sends on a connection of its own, and one notice for whatever was
 * committed in 10 ms. One that is lost is not repeated: relays also look by themselves.
 */
export function startDeliveryNotifier(options: DeliveryNotifierOptions): DeliveryNotifier {
  const { connectionString } = options;
  const shared = running.get(connectionString) ?? { users: 0, notifier: startNotifier(options) };
  running.set(connectionString, shared);
  shared.users += 1;
  const stop = async () => {
    shared.users -= 1;
    if (shared.users > 0) return;
    running.delete(connectionString);
    await shared.notifier.stop();
  };
  let stopping: Promise<void> | undefined;
  return {
    stop() {
      stopping ??= stop();
      return stopping;
    },
  };
}

function startNotifier({ connectionString, logger }: DeliveryNotifierOptions): DeliveryNotifier {
  const pool = createPool({
    connectionString,
    poolSize: 1,
    applicationName: connectionName('notifier'),
    statementTimeout: TIMEOUT_MS,
    connectTimeout: TIMEOUT_MS,
    keepIdle: true,
    // A notice is a transaction that writes nothing: it need not wait for the disk.
    settings: { synchronous_commit: 'off' },
  });
  const stopping = new AbortController();
  let wanted = false;
  let failing = false;
  let sending: Promise<void> | undefined;

  const send = async () => {
    while (wanted) {
      wanted = false;
      try {
        await pool.query(`NOTIFY ${DELIVERIES_CHANNEL}, '${OWN_NOTICE}'`);
        failing = false;
      } catch (error) {
        if (!failing) logger.warn({ err: error }, 'relays not notified of new deliveries; they poll instead');
        failing = true;
      }
      await pause(failing ? RETRY_MS : INTERVAL_MS, stopping.signal);
    }
    sending = undefined;
  };
  const unsubscribe = deliveriesStored.subscribe(() => {
    wanted = true;
    sending ??= send();
  });
  return {
    async stop() {
      unsubscribe();
      stopping.abort();
      await sending;
      await pool.end();
    },
  };
}

import type { Logger } from 'pino';
import { connectionName, createPool } from '../db/database.ts';
import { pause } from '../pause.ts';
import { DELIVERIES_CHANNEL, deliveriesStored, EVENTS_CHANNEL, eventsStored, OWN_NOTICE } from './stored.ts';

/** Milliseconds between two notices: the second covers all commits in between. */
const INTERVAL_MS = 10;
/** The same after a failed notice. */
const RETRY_MS = 1_000;
/** Timeout of a connection and of a notice, in milliseconds. */
const TIMEOUT_MS = 2_000;

export interface DeliveryNotifierOptions {
  readonly connectionString: string;
  readonly logger: Logger;
}

export interface DeliveryNotifier {
  /** Sends what is pending and closes the connection, within a few seconds. Idempotent. */
  stop(): Promise<void>;
}

/** The server and the worker of one process share one. */
const running = new Map<string, { users: number; readonly notifier: DeliveryNotifier }>();

/**
 * Notifies the sequencers and relays of other processes of stored events and deliveries, outside of any transaction:
 * Postgres commits transactions with NOTIFY one after the other. One notice on a connection of its own covers all
 * commits of 10 ms, and one of deliveries their events. A lost one is not repeated: sequencers and relays also poll.
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
    // A notice writes nothing, so it need not wait for the disk.
    settings: { synchronous_commit: 'off' },
  });
  const stopping = new AbortController();
  /** What a process that hears of it has to look at: events alone, or deliveries as well. */
  let wanted: typeof EVENTS_CHANNEL | typeof DELIVERIES_CHANNEL | null = null;
  let failing = false;
  let sending: Promise<void> | undefined;

  const send = async () => {
    while (wanted !== null) {
      const channel = wanted;
      wanted = null;
      try {
        await pool.query(`NOTIFY ${channel}, '${OWN_NOTICE}'`);
        failing = false;
      } catch (error) {
        if (!failing)
          logger.warn({ err: error }, 'other processes not notified of new events; they poll instead');
        failing = true;
      }
      await pause(failing ? RETRY_MS : INTERVAL_MS, stopping.signal);
    }
    sending = undefined;
  };
  const subscriptions = [
    eventsStored.subscribe(() => {
      wanted ??= EVENTS_CHANNEL;
      sending ??= send();
    }),
    deliveriesStored.subscribe(() => {
      wanted = DELIVERIES_CHANNEL;
      sending ??= send();
    }),
  ];
  return {
    async stop() {
      for (const unsubscribe of subscriptions) unsubscribe();
      stopping.abort();
      await sending;
      await pool.end();
    },
  };
}

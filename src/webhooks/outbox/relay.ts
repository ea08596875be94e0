import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from 'pino';
import type { Database } from '../../db/database.ts';
import { OUTBOX_CHANNEL } from '../../events/record.ts';
import type { DeliveryId, EndpointId } from '../../ids.ts';
import type { TemporalNames } from '../../temporal/names.ts';
import type { TemporalClient } from '../../temporal/runs.ts';
import { backOff, type ClaimedDelivery, claimDeliveries, markHandedOver } from './claim.ts';
import { startDelivery } from './start.ts';

const POLL_MS = 1_000;
const RECONNECT_MS = 1_000;
/** Starts of this process that are under way at once. */
const MOST_STARTS = 50;

export interface RelayOptions {
  readonly db: Database;
  /** A connection string that reaches Postgres itself: LISTEN does not pass through a pooler. */
  readonly listenUrl: string;
  readonly client: TemporalClient;
  readonly names: TemporalNames;
  readonly logger: Logger;
}

export interface Relay {
  /** Looks for work now rather than at the next poll. */
  wake(): void;
  /** Finishes the starts under way and stops. */
  stop(): Promise<void>;
}

/**
 * Hands deliveries over to Temporal: claims them from the outbox, starts a run each, and takes them out.
 * A crash between any two of these steps repeats the start, which a used id turns into nothing.
 */
export function startRelay(options: RelayOptions): Relay {
  const { db, client, names, logger } = options;
  const stopping = new AbortController();
  let wanted = true;
  let wakeUp: () => void = () => undefined;
  const wake = () => {
    wanted = true;
    wakeUp();
  };

  const nextWake = () =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, POLL_MS);
      wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  const starts = new Set<Promise<void>>();
  const startsOf = new Map<EndpointId, number>();
  const started: DeliveryId[] = [];
  const failed: DeliveryId[] = [];

  /** Not awaited by the loop: a start that takes long must not keep other endpoints' deliveries from theirs. */
  function start(delivery: ClaimedDelivery): void {
    const { endpoint_id: endpointId } = delivery;
    const count = (change: 1 | -1) => {
      const total = (startsOf.get(endpointId) ?? 0) + change;
      if (total === 0) startsOf.delete(endpointId);
      else startsOf.set(endpointId, total);
    };
    count(1);
    const one = startDelivery(client, names, delivery)
      .then(
        () => {
          started.push(delivery.id);
          wake();
        },
        (error: unknown) => {
          // No wake: a server that refuses every start is asked again at the next poll, not at once.
          failed.push(delivery.id);
          logger.warn({ err: error, deliveryId: delivery.id }, 'delivery not started yet');
        },
      )
      .finally(() => {
        starts.delete(one);
        count(-1);
      });
    starts.add(one);
  }

  /** What cannot be written is repeated when its lease runs out. */
  async function writeDown(): Promise<void> {
    const ends = [started.splice(0), failed.splice(0)] as const;
    await markHandedOver(db, ends[0]);
    await backOff(db, ends[1]);
  }

  async function round(): Promise<void> {
    await writeDown();
    const room = MOST_STARTS - starts.size;
    if (room > 0) for (const delivery of await claimDeliveries(db, room, startsOf)) start(delivery);
  }

  const attempt = async (work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      logger.warn({ err: error }, 'outbox not read');
    }
  };

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      wanted = false;
      await attempt(round);
      if (!wanted && !stopping.signal.aborted) await nextWake();
    }
    await Promise.all(starts);
    await attempt(writeDown);
  }

  const running = run();
  const listening = listen(options, wake, stopping.signal);
  return {
    wake,
    async stop() {
      stopping.abort();
      wake();
      await Promise.all([running, listening]);
    },
  };
}

/** Listens until the signal, on connections of its own, made anew whenever one is lost. */
async function listen(options: RelayOptions, wake: () => void, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const connection = new pg.Client({
      connectionString: options.listenUrl,
      application_name: 'workspace-content-service relay',
      keepAlive: true,
      connectionTimeoutMillis: 10_000,
    });
    try {
      const lost = new Promise<void>((resolve) => {
        connection.on('error', () => resolve());
        connection.on('end', () => resolve());
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
      connection.on('notification', wake);
      await connection.connect();
      await connection.query(`LISTEN ${OUTBOX_CHANNEL}`);
      wake();
      await lost;
    } catch (error) {
      options.logger.warn({ err: error }, 'not listening for new deliveries; polling instead');
    }
    await connection.end().catch(() => undefined);
    await sleep(RECONNECT_MS, undefined, { signal }).catch(() => undefined);
  }
}

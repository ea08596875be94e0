import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from 'pino';
import type { Database } from '../../db/database.ts';
import { OUTBOX_CHANNEL } from '../../events/record.ts';
import type { DeliveryId } from '../../ids.ts';
import type { TemporalNames } from '../../temporal/names.ts';
import type { TemporalClient } from '../../temporal/runs.ts';
import { backOff, claimDeliveries, markHandedOver } from './claim.ts';
import { startDelivery } from './start.ts';

const POLL_MS = 1_000;
const RECONNECT_MS = 1_000;

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
  /** Finishes the round under way and stops. */
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

  async function round(): Promise<number> {
    const claimed = await claimDeliveries(db);
    const started: DeliveryId[] = [];
    const failed: DeliveryId[] = [];
    await Promise.all(
      claimed.map(async (delivery) => {
        try {
          await startDelivery(client, names, delivery);
          started.push(delivery.id);
        } catch (error) {
          failed.push(delivery.id);
          logger.warn({ err: error, deliveryId: delivery.id }, 'delivery not started yet');
        }
      }),
    );
    await markHandedOver(db, started);
    await backOff(db, failed);
    return started.length;
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      wanted = false;
      try {
        if ((await round()) > 0) continue;
      } catch (error) {
        logger.warn({ err: error }, 'outbox not read');
      }
      if (!wanted && !stopping.signal.aborted) await nextWake();
    }
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

import { EventEmitter } from 'node:events';
import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import type { ConnectedConfig } from '../config.ts';
import type { Database } from '../db/database.ts';
import { startSequencer } from '../events/log/sequencer.ts';
import { createAddressGuard } from '../outbound/resolver.ts';
import type { TaskQueues } from '../temporal/task-queues.ts';
import { tenants } from '../tenants.ts';
import { keepBacklogs } from '../webhooks/backlog/keep.ts';
import { type AttemptEnd, createFigures } from '../webhooks/health/figures.ts';
import { startUpkeep } from '../webhooks/health/upkeep.ts';
import { createPaces } from '../webhooks/pace/paces.ts';
import { createBursts } from '../webhooks/relay/bursts.ts';
import { type Capacity, createCapacity } from '../webhooks/relay/capacity.ts';
import { createHeldEndpoints } from '../webhooks/relay/held-endpoints.ts';
import { createKnownEndpoints } from '../webhooks/relay/known-endpoints.ts';
import { type Relay, startRelay } from '../webhooks/relay/relay.ts';
import { createRuns } from '../webhooks/relay/runs.ts';
import { createSuspects } from '../webhooks/relay/suspects.ts';
import type { SecretRing } from '../webhooks/secrets/ring.ts';
import { createWebhookSender } from '../webhooks/sending/sender.ts';
import {
  createBacklogDatabase,
  createDeliveryDatabase,
  createSequencerDatabase,
} from './delivery-database.ts';
import type { WorkerMetrics } from './worker-metrics.ts';

export interface DeliveryEngineDependencies {
  /** For statements with other plans than those of deliveries. */
  readonly db: Database;
  readonly client: Client;
  readonly names: TaskQueues;
  readonly secrets: SecretRing;
  readonly metrics: WorkerMetrics;
  /** One of its own by default. */
  readonly capacity?: Capacity | undefined;
}

/** Composes what a worker sends webhooks with, from the numbers of events to the health of endpoints. */
export function createDeliveryEngine(
  config: ConnectedConfig,
  logger: Logger,
  { db, client, names, secrets, metrics, capacity = createCapacity() }: DeliveryEngineDependencies,
) {
  const deliveries = createDeliveryDatabase(config, logger);
  const numbering = createSequencerDatabase(config, logger);
  const waiting = createBacklogDatabase(config, logger);
  const sender = createWebhookSender({
    guard: createAddressGuard({ allowedNetworks: config.WEBHOOK_ALLOWED_NETWORKS }),
    sendsTraceparent: config.WEBHOOK_TRACEPARENT,
  });
  const figures = createFigures();
  const held = createHeldEndpoints(logger, secrets.keyIds);
  metrics.countHeld(held.count);
  const wakes = new EventEmitter<{ wake: [] }>();
  const wake = () => wakes.emit('wake');
  const paces = createPaces({
    db: deliveries,
    onRefused: metrics.requestRefused,
    onStored: wake,
    onError: (error) => logger.warn({ err: error }, 'pace of a webhook endpoint not stored'),
  });
  const attempts = {
    db: deliveries,
    paces,
    sender,
    secrets,
    onUnreadable: held.failed,
    onAttemptBegan: metrics.attemptBegan,
    onAttemptEnded: (end: AttemptEnd) => {
      metrics.attemptEnded(end.verdict, end.number);
      figures.attemptEnded(end);
      tenants.count(end.workspaceId, 'deliveries', 1);
    },
  };
  const runs = createRuns(client, names, logger);
  const known = createKnownEndpoints();
  const suspects = createSuspects(db, known, logger);
  const bursts = createBursts({
    ...attempts,
    capacity,
    known,
    suspects,
    wake,
    onError: (error, { id, workspaceId }) =>
      logger.error({ err: error, deliveryId: id, workspaceId }, 'attempt left unrecorded'),
  });

  /** Starts the loops: from now on deliveries are claimed. */
  const start = (): { readonly relay: Relay; stop(): Promise<void>; stopUpkeep(): Promise<void> } => {
    const relay = startRelay({
      db: deliveries,
      common: db,
      listenUrl: config.DATABASE_DIRECT_URL ?? config.DATABASE_URL,
      client,
      names,
      logger,
      runs,
      bursts,
      capacity,
      known,
      suspects,
      held,
      paces,
      wakes,
      runsPerSecond: config.WEBHOOK_RUNS_PER_SECOND,
    });
    const sequencer = startSequencer({ db: numbering, logger, onRound: metrics.eventsNumbered });
    const stopUpkeep = startUpkeep({ db, secrets, figures, logger, onDisabled: metrics.endpointDisabled });
    const retentionSeconds = config.RETENTION_DAYS * 86_400;
    const stopBacklogs = keepBacklogs({
      onTooOld: metrics.deliveriesTooOld,
      onMissed: metrics.eventsMissed,
      db: waiting,
      logger,
      retentionSeconds,
      maxAgeSeconds: Math.min(config.WEBHOOK_MAX_AGE_HOURS * 3_600, retentionSeconds),
    });
    return {
      relay,
      stop: async () => void (await Promise.all([relay.stop(), sequencer.stop(), stopBacklogs()])),
      stopUpkeep,
    };
  };

  return {
    webhookActivities: { ...attempts, takeClaimed: runs.take },
    burstActivities: { db: deliveries, bursts },
    start,
    /** Closes connections, once everything has stopped. */
    async close() {
      await sender.close();
      for (const pool of [deliveries, numbering, waiting]) await pool.destroy();
    },
  };
}

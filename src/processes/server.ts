import { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import { createKeys } from '../api-keys/authenticate.ts';
import { createLastUsedRecorder } from '../api-keys/last-used.ts';
import { createAssetPages } from '../assets/page.ts';
import { createBlobStore } from '../blobs/create.ts';
import type { ConnectedConfig } from '../config.ts';
import { connectionName, createSharedDatabase } from '../db/database.ts';
import { createDatabaseProbe } from '../db/probe.ts';
import { createEventWatch } from '../events/log/watch.ts';
import { startDeliveryNotifier } from '../events/notifier.ts';
import { describeEvents } from '../events/schemas.ts';
import { createApp } from '../http/app.ts';
import { DEFAULT_HTTP_LIMITS } from '../http/limits.ts';
import { createReadiness } from '../http/readiness.ts';
import { createRooms } from '../http/rooms.ts';
import { serveHttp } from '../http/serve.ts';
import { createJobWatch } from '../jobs/watch.ts';
import { createMediaProcessor } from '../media/processor.ts';
import { createHttpMetrics } from '../metrics/http.ts';
import { createDependencyMetrics } from '../metrics/process.ts';
import { type RunningMetrics, serveMetrics } from '../metrics/serve.ts';
import { createAddressGuard } from '../outbound/resolver.ts';
import { noteImageProvider } from '../providers/images/index.ts';
import { createReferencePages } from '../reference/pages.ts';
import { withAuthority } from '../roles/present-authority.ts';
import { openClientConnection } from '../temporal/client-connection.ts';
import { temporalConnectionOptions } from '../temporal/connection-options.ts';
import { taskQueues } from '../temporal/task-queues.ts';
import { clientInterceptors } from '../temporal/tracing.ts';
import { closeThreads } from '../threads/pool.ts';
import { turnsAwaited } from '../threads/turns.ts';
import { createCatchUp } from '../translations/project/catch-up.ts';
import { createRunCanceller } from '../webhooks/endpoints/run-canceller.ts';
import { createWebhookSender } from '../webhooks/sending/sender.ts';
import { generationFeatures } from './job-areas.ts';
import { createRoutes } from './routes.ts';
import { openSecretRing } from './secret-ring.ts';

export interface RunningService {
  /** The base URL. */
  readonly url: string;
  /** The URL for Prometheus. */
  readonly metricsUrl: string;
  /** Drains requests in flight, writes what is buffered, closes connections. */
  stop(): Promise<void>;
}

/** Time of a request beyond its wait for a model, the longest wait there is, in milliseconds. */
const DRAIN_MARGIN_MS = 5_000;
/** How long a request waits for connections of its workspace's share, in all, in milliseconds. */
const CONNECTION_WAIT_MS = 5_000;
/**
 * How long a statement waits for a lock, in milliseconds. For a row it waits twice: to be the next, and for the row.
 */
const LOCK_TIMEOUT_MS = 3_000;

/**
 * Composes and starts the HTTP process. Temporal may be away: its connection is made later.
 * @throws {ConfigurationError} when the keys of webhook secrets are missing or not those of the database
 */
export async function startServer(config: ConnectedConfig, logger: Logger): Promise<RunningService> {
  const target = temporalConnectionOptions(config);
  noteImageProvider(config, logger);
  const database = createSharedDatabase({
    connectionString: config.DATABASE_URL,
    poolSize: config.DATABASE_POOL_SIZE,
    waitMs: CONNECTION_WAIT_MS,
    statementTimeout: config.DATABASE_STATEMENT_TIMEOUT_SECONDS * 1_000,
    lockTimeout: LOCK_TIMEOUT_MS,
    applicationName: connectionName('server'),
    // A direct address means that the other one is a pooler's.
    prepareStatements: config.DATABASE_DIRECT_URL === undefined,
    onError: (error) => logger.warn({ err: error }, 'database connection lost'),
  });
  const db = database.common;
  const secrets = await openSecretRing(config, db, logger).catch(async (error: unknown) => {
    await database.destroy();
    throw error;
  });
  const connection = openClientConnection(target);
  const client = new Client({
    connection,
    namespace: config.TEMPORAL_NAMESPACE,
    interceptors: clientInterceptors,
  });
  const guard = createAddressGuard({ allowedNetworks: config.WEBHOOK_ALLOWED_NETWORKS });
  const imageGuard = createAddressGuard({ allowedNetworks: config.IMAGE_ALLOWED_NETWORKS });
  const sender = createWebhookSender({ guard, sendsTraceparent: config.WEBHOOK_TRACEPARENT });
  const lastUsed = createLastUsedRecorder(db, logger);
  const blobs = await createBlobStore(config);
  const media = createMediaProcessor({ logger });
  const limits = {
    ...DEFAULT_HTTP_LIMITS,
    perKey: config.RATE_LIMIT_PER_KEY,
    perWorkspace: config.RATE_LIMIT_PER_WORKSPACE,
    perAddress: config.RATE_LIMIT_PER_ADDRESS,
    authFailures: config.RATE_LIMIT_AUTH_FAILURES,
  };
  const names = taskQueues(config.TEMPORAL_TASK_QUEUE_PREFIX);
  const jobWatch = createJobWatch(db);
  const eventWatch = createEventWatch(db);
  const runCanceller = createRunCanceller({ client, logger });
  const catchUp = createCatchUp({
    databaseOf: database.of,
    onError: (err, workspaceId, id) => logger.warn({ err, workspaceId, id }, 'states not counted'),
  });
  const notifier = startDeliveryNotifier({ connectionString: config.DATABASE_URL, logger });
  const probe = createDatabaseProbe(config.DATABASE_URL);
  const readiness = createReadiness({
    postgres: { needed: true, check: probe.check },
    // Without Temporal a request still commits its decision.
    temporal: {
      needed: false,
      check: async () => {
        await connection.withDeadline(Date.now() + 1_500, () => connection.workflowService.getSystemInfo({}));
      },
    },
    // Whatever needs no image's bytes goes on without them.
    images: { needed: false, check: blobs.check },
  });
  const rooms = createRooms();
  const metrics = createHttpMetrics(database.waiting, turnsAwaited, rooms);
  createDependencyMetrics(metrics.registry, readiness);
  const app = createApp(
    {
      databaseOf: (actor) => withAuthority(database.of(actor.workspaceId), actor),
      logger,
      limits,
      rooms,
      trustedProxies: config.TRUSTED_PROXIES,
      keys: createKeys(db, lastUsed),
      pages: (document) => [...createReferencePages(document), ...createAssetPages({ db, blobs })],
      webhooks: describeEvents(),
      observe: metrics.observe,
      readiness,
    },
    createRoutes({
      client,
      names,
      logger,
      guard,
      imageGuard,
      sender,
      secrets,
      blobs,
      media,
      limits,
      runCanceller,
      jobWatch,
      eventWatch,
      catchUp,
      canDraw: config.IMAGE_PROVIDER !== 'none',
      unbilledLimit: config.UNBILLED_LIMIT_WORDS,
      engineSlots: config.TRANSLATION_ACTIVITY_SLOTS,
      features: generationFeatures(config),
      aiWaitMs: config.AI_WAIT_SECONDS * 1_000,
    }),
  );
  const close = async () => {
    await catchUp.close();
    await closeThreads();
    await lastUsed.close();
    await sender.close();
    await runCanceller.close();
    await notifier.stop();
    await connection.close();
    await probe.close();
    await media.close();
    await blobs.close();
    await database.destroy();
  };
  let metricsServer: RunningMetrics | undefined;
  try {
    metricsServer = await serveMetrics(
      metrics.registry,
      { host: config.METRICS_HOST, port: config.METRICS_PORT },
      [],
      { unwell: async () => null, readiness },
    );
    const { url: metricsUrl, close: closeMetrics } = metricsServer;
    const server = await serveHttp(app, {
      host: config.HOST,
      port: config.PORT,
      logger,
      drainTimeout: config.AI_WAIT_SECONDS * 1_000 + DRAIN_MARGIN_MS,
      maxConnections: config.HTTP_MAX_CONNECTIONS,
      trustedProxies: config.TRUSTED_PROXIES,
    });
    logger.info(`metrics at ${metricsUrl}`);
    return {
      url: server.url,
      metricsUrl,
      async stop() {
        jobWatch.close();
        eventWatch.close();
        await server.close();
        await closeMetrics();
        await close();
      },
    };
  } catch (error) {
    await metricsServer?.close();
    await close();
    throw error;
  }
}

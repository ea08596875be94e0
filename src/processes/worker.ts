import { Client } from '@temporalio/client';
import { type NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import type { Logger } from 'pino';
import { createAiActivities } from '../../activities/ai.ts';
import { createBurstActivities } from '../../activities/bursts.ts';
import { createMaintenanceActivities } from '../../activities/maintenance.ts';
import { createWebhookActivities } from '../../activities/webhooks.ts';
import { startCheckingLinks } from '../articles/links/check.ts';
import type { ConnectedConfig } from '../config.ts';
import { connectionName, createDatabase } from '../db/database.ts';
import { makePartitions } from '../db/partitions.ts';
import { createDatabaseProbe } from '../db/probe.ts';
import { startDeliveryNotifier } from '../events/notifier.ts';
import { createReadiness } from '../http/readiness.ts';
import { watchRelay } from '../metrics/health.ts';
import { watchPolls } from '../metrics/polls.ts';
import { readSdkMetrics } from '../metrics/temporal.ts';
import { askForNamespace, explainRefusal, watchAccess } from '../temporal/access.ts';
import { bundleWorkflows } from '../temporal/bundle.ts';
import { sdkMetricsUrl } from '../temporal/runtime.ts';
import { taskQueues } from '../temporal/task-queues.ts';
import { activityInterceptors, clientInterceptors } from '../temporal/tracing.ts';
import { workerTuning } from '../temporal/tuning.ts';
import { closeThreads } from '../threads/pool.ts';
import type { Capacity } from '../webhooks/relay/capacity.ts';
import type { Relay } from '../webhooks/relay/relay.ts';
import { createDeliveryEngine } from './delivery-engine.ts';
import { closeEngines, createEngines, type EngineOverrides } from './engines.ts';
import { jobAreas } from './job-areas.ts';
import { createPaidActivities } from './paid-activities.ts';
import { openSecretRing } from './secret-ring.ts';
import { ENGINE_CALLS_STOP } from './stopping.ts';
import { startWorkerMetrics } from './worker-metrics.ts';
import { connectWithRetries, keepSchedules } from './worker-temporal.ts';

/** Longer than one webhook attempt, so that a shutdown lets those in flight end. */
const SHUTDOWN_GRACE = '25 seconds';
/** Reconcile and prune may take long, and lose nothing when they stop between two batches. */
const MAINTENANCE_GRACE = '1 second';
/** What has not stopped by then is abandoned: the process must end. */
const SHUTDOWN_FORCE = '45 seconds';

/** Concurrent bursts of one worker: while one finishes its last attempts, the other takes what is due. */
const BURSTS = 2;
const BURSTS_CACHED = 20;
/** Concurrent steps of paid jobs in one worker: most of each is Postgres's time. */
const JOB_STEPS = 20;

export interface RunningWorker {
  /** The URL for Prometheus. */
  readonly metricsUrl: string;
  /** Resolves when the workers have stopped; rejects when one of them failed. */
  readonly done: Promise<void>;
  /** Stops taking tasks, lets those in flight end, closes connections. */
  stop(): Promise<void>;
}

export interface WorkerOverrides extends EngineOverrides {
  readonly capacity?: Capacity;
  /** How often it checks that the schedules exist, instead of each minute; milliseconds. With null it makes none. */
  readonly schedulesEveryMs?: number | null;
}

/**
 * Composes and starts the worker process: workflows, activities, the relay of deliveries and the sequencer of events.
 * @throws {ConfigurationError} when the keys of webhook secrets are missing or not those of the database
 */
export async function startWorker(
  config: ConnectedConfig,
  logger: Logger,
  overrides: WorkerOverrides = {},
): Promise<RunningWorker> {
  const probe = createDatabaseProbe(config.DATABASE_URL);
  let connected: NativeConnection | undefined;
  let relaying: Relay | undefined;
  const access = watchAccess(async () => {
    if (connected === undefined) throw new Error('not connected yet');
    await askForNamespace(connected, config.TEMPORAL_NAMESPACE, 1_500);
  });
  const readiness = createReadiness({
    postgres: { needed: true, check: probe.check },
    temporal: { needed: true, check: access.check },
  });
  const relayUnwell = watchRelay(() => relaying?.sinceRound(), readiness);
  const names = taskQueues(config.TEMPORAL_TASK_QUEUE_PREFIX);
  const both = [names.webhooks, names.bursts, names.ai, names.maintenance];
  const workersUnwell = watchPolls({
    workflowQueues: [names.translation, ...both],
    activityQueues: [names.jobSteps, names.engineCalls, ...both],
    read: () => readSdkMetrics(sdkMetricsUrl() ?? '').catch(() => ''),
    readiness,
  });
  const metrics = await startWorkerMetrics(config, logger, {
    readiness,
    unwell: async () => {
      const reason = (await relayUnwell()) ?? (await workersUnwell());
      return access.isRefused() ? explainRefusal(config.TEMPORAL_ADDRESS, config.TEMPORAL_NAMESPACE) : reason;
    },
  });
  const bundle =
    config.WORKFLOW_BUNDLE === undefined ? await bundleWorkflows() : { codePath: config.WORKFLOW_BUNDLE };
  const db = createDatabase({
    connectionString: config.DATABASE_URL,
    poolSize: config.DATABASE_POOL_SIZE,
    statementTimeout: config.DATABASE_STATEMENT_TIMEOUT_SECONDS * 1_000,
    applicationName: connectionName('worker'),
    onError: (error) => logger.warn({ err: error }, 'database connection lost'),
  });
  const secrets = await openSecretRing(config, db, logger);
  const connection = await connectWithRetries(config, logger);
  connected = connection;
  const engines = await createEngines(config, logger, overrides);
  const client = new Client({
    connection,
    namespace: config.TEMPORAL_NAMESPACE,
    interceptors: clientInterceptors,
  });
  const notifier = startDeliveryNotifier({ connectionString: config.DATABASE_URL, logger });
  const stopped = new AbortController();
  const engine = createDeliveryEngine(config, logger, {
    ...{ db, client, names, secrets, metrics },
    capacity: overrides.capacity,
  });

  const tuning = workerTuning(config);
  const common = {
    ...tuning.pollers,
    connection,
    namespace: config.TEMPORAL_NAMESPACE,
    workflowBundle: bundle,
    shutdownGraceTime: SHUTDOWN_GRACE,
    shutdownForceTime: SHUTDOWN_FORCE,
    // Heartbeats pass through at their own pace, so that a hanging attempt is seen to live.
    maxHeartbeatThrottleInterval: '5 seconds',
  } satisfies Partial<WorkerOptions>;
  const { workflowBundle: _, ...activitiesOnly } = common;
  const engineSlots = config.TRANSLATION_ACTIVITY_SLOTS;
  const unbilledLimit = config.UNBILLED_LIMIT_WORDS;
  const ofJobs = { db, client, names, areas: jobAreas, engineSlots, unbilledLimit };
  const jobs = createPaidActivities(ofJobs, engines, { metrics, stopped: stopped.signal });
  const workers = await Promise.all([
    Worker.create({
      ...common,
      taskQueue: names.translation,
      ...tuning.translation,
    }),
    Worker.create({
      ...activitiesOnly,
      taskQueue: names.jobSteps,
      activities: jobs,
      interceptors: activityInterceptors,
      maxConcurrentActivityTaskExecutions: JOB_STEPS,
    }),
    Worker.create({
      ...activitiesOnly,
      taskQueue: names.engineCalls,
      activities: jobs,
      interceptors: activityInterceptors,
      ...tuning.engineCalls,
      ...ENGINE_CALLS_STOP,
    }),
    Worker.create({
      ...common,
      taskQueue: names.webhooks,
      activities: createWebhookActivities(engine.webhookActivities),
      ...tuning.webhooks,
    }),
    Worker.create({
      ...common,
      taskQueue: names.bursts,
      activities: createBurstActivities({ ...engine.burstActivities, stopping: stopped.signal }),
      maxConcurrentActivityTaskExecutions: BURSTS,
      maxCachedWorkflows: BURSTS_CACHED,
    }),
    Worker.create({
      ...common,
      taskQueue: names.ai,
      interceptors: activityInterceptors,
      activities: createAiActivities({ db, provider: engines.suggestions }),
      maxCachedWorkflows: 200,
      // A request waits for each of these runs: when the worker that has it cached is lost, another takes over at once.
      stickyQueueScheduleToStartTimeout: '1 second',
    }),
    Worker.create({
      ...common,
      taskQueue: names.maintenance,
      interceptors: activityInterceptors,
      activities: createMaintenanceActivities({
        db,
        client,
        names,
        areas: jobAreas,
        engineSlots,
        minimumAgeMs: config.RECONCILE_AFTER_SECONDS * 1_000,
        retentionMs: config.RETENTION_DAYS * 86_400_000,
        auditRetentionMs: config.AUDIT_RETENTION_DAYS * 86_400_000,
        partitionMinutes: config.PARTITION_MINUTES,
        blobs: engines.blobs,
        blobGraceMs: config.BLOB_GRACE_DAYS * 86_400_000,
        workspaceGraceMs: config.WORKSPACE_GRACE_DAYS * 86_400_000,
        memoryMs: config.MEMORY_DAYS * 86_400_000,
        onRound: metrics.roundEnded,
        countPrune: metrics.countPrune,
      }),
      shutdownGraceTime: MAINTENANCE_GRACE,
      maxCachedWorkflows: 10,
    }),
  ]);
  const running = workers.map((worker) => worker.run());
  const delivering = engine.start();
  relaying = delivering.relay;
  const stopLinking = startCheckingLinks(db, logger);
  // A month of partitions exists; prune retries what fails here.
  makePartitions(db, {
    minutes: config.PARTITION_MINUTES,
    note: () => stopped.signal.throwIfAborted(),
  }).catch((error: unknown) => {
    if (!stopped.signal.aborted) logger.warn({ err: error }, 'partitions not made');
  });
  const scheduled = keepSchedules(client, names, logger, stopped.signal, overrides.schedulesEveryMs);

  let stopping: Promise<void> | undefined;
  const stop = async () => {
    stopped.abort();
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
    const ends = await Promise.allSettled([delivering.stop(), stopLinking(), scheduled, ...running]);
    for (const end of ends) {
      if (end.status === 'rejected') logger.warn({ err: end.reason }, 'a worker did not stop cleanly');
    }
    // Last: the attempts that ended just now are counted.
    await delivering.stopUpkeep();
    await notifier.stop();
    await metrics.close();
    await probe.close();
    await connection.close();
    await closeEngines(engines);
    await closeThreads();
    await engine.close();
    await db.destroy();
  };
  return {
    metricsUrl: metrics.url,
    done: Promise.all(running).then(() => undefined),
    stop() {
      stopping ??= stop();
      return stopping;
    },
  };
}

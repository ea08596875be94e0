import type { Logger } from 'pino';
import type { ConnectedConfig } from '../config.ts';
import { createBackupMetrics } from '../metrics/backup.ts';
import { createDatabaseMetrics } from '../metrics/database.ts';
import { createDeliveryMetrics, type DeliveryMetrics } from '../metrics/deliveries.ts';
import { createEventMetrics, type EventMetrics } from '../metrics/events.ts';
import { createGenerationMetrics, type GenerationMetrics } from '../metrics/generations.ts';
import type { Health } from '../metrics/health.ts';
import { createDependencyMetrics, createProcessMetrics } from '../metrics/process.ts';
import { type CountPrune, createPruneMetrics } from '../metrics/prune.ts';
import { createReconcileMetrics, type RoundEnded } from '../metrics/reconcile.ts';
import { createRegenerationMetrics, type RegenerationMetrics } from '../metrics/regenerations.ts';
import { type RunningMetrics, serveMetrics } from '../metrics/serve.ts';
import { createTemporalMetrics } from '../metrics/temporal.ts';
import { type CountTranslations, createTranslationMetrics } from '../metrics/translations.ts';
import { sdkMetricsUrl } from '../temporal/runtime.ts';

export interface WorkerMetrics
  extends RunningMetrics,
    DeliveryMetrics,
    EventMetrics,
    GenerationMetrics,
    RegenerationMetrics {
  readonly countTranslations: CountTranslations;
  readonly roundEnded: RoundEnded;
  readonly countPrune: CountPrune;
}

/**
 * Serves all metrics of a worker process on one port: its own, the database's, and those of Temporal's SDK.
 * @throws {ConfigurationError} when METRICS_HOST or METRICS_PORT cannot be had
 */
export async function startWorkerMetrics(
  config: Pick<ConnectedConfig, 'DATABASE_URL' | 'DATA_DIR' | 'METRICS_HOST' | 'METRICS_PORT'>,
  logger: Logger,
  health: Health,
): Promise<WorkerMetrics> {
  const registry = createProcessMetrics();
  createDependencyMetrics(registry, health.readiness);
  const deliveries = createDeliveryMetrics(registry);
  const events = createEventMetrics(registry);
  const countTranslations = createTranslationMetrics(registry);
  const generations = createGenerationMetrics(registry);
  const regenerations = createRegenerationMetrics(registry);
  const roundEnded = createReconcileMetrics(registry);
  const countPrune = createPruneMetrics(registry);
  createBackupMetrics(registry, config.DATA_DIR);
  const database = createDatabaseMetrics({ connectionString: config.DATABASE_URL, registry, logger });
  const { url, close } = await serveMetrics(
    registry,
    { host: config.METRICS_HOST, port: config.METRICS_PORT },
    [database.read, createTemporalMetrics(sdkMetricsUrl, registry)],
    health,
  );
  logger.info(`metrics at ${url}`);
  return {
    ...deliveries,
    ...events,
    ...generations,
    ...regenerations,
    countTranslations,
    roundEnded,
    countPrune,
    url,
    async close() {
      await close();
      await database.close();
    },
  };
}

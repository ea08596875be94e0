import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Config, ConnectedConfig } from '../config.ts';
import { connectionName, createDatabase, type Database } from '../db/database.ts';
import { migrateToLatest, requireSchema } from '../db/migrate.ts';
import { errorCode, errorMessage } from '../error-text.ts';
import { STOP_DEADLINE_MS } from '../processes/lifecycle.ts';
import type { RunningService } from '../processes/server.ts';
import type { RunningWorker } from '../processes/worker.ts';
import type { Progress } from './engine.ts';
import { withLocalKeys } from './secret-key-file.ts';
import { type Stack, startStack } from './stack.ts';
import { cachedWorkflowBundle } from './workflow-bundle.ts';

/** How long a start waits for an external Temporal server before it continues without, in milliseconds. */
const EXTERNAL_TEMPORAL_WAIT_MS = 5_000;

/** Time for server and worker to end after the engines, in milliseconds. */
const AFTER_ENGINES_MS = 5_000;

/** An error shown to the user without a stack. */
export class UserError extends Error {
  override readonly name = 'UserError';
}

export interface LocalServiceOptions {
  readonly config: Config;
  /** Source of variables that `config` lacks, such as TEMPORAL_CLI_PATH. */
  readonly env: NodeJS.ProcessEnv;
  readonly logger: Logger;
  readonly onProgress: Progress;
  /** Aborts the start; everything already running is stopped before the promise rejects. */
  readonly signal: AbortSignal;
}

/** Engines, server and worker, all of them owned by this process. */
export interface LocalService {
  /** The API's address. */
  readonly url: string;
  /** Null for an external Temporal. */
  readonly temporalUiUrl: string | null;
  /** Absolute path. */
  readonly dataDir: string;
  readonly config: ConnectedConfig;
  readonly db: Database;
  /** Rejects when the worker ends unexpectedly, or an engine can't be kept running; never resolves. */
  readonly failed: Promise<never>;
  /**
   * Drains HTTP, then the worker, then ends our engines, within two minutes even if something hangs. Never rejects:
   * failures are logged.
   */
  stop(): Promise<void>;
}

/**
 * Starts the engines that the environment does not provide, migrates the embedded database and starts server and worker.
 * @throws {UserError} for problems that the user can fix: an engine that does not start, a port that is in use
 * @throws {ConfigurationError} when the keys of webhook secrets are not those of the database
 */
export async function startLocalService(options: LocalServiceOptions): Promise<LocalService> {
  const { config, logger, signal, onProgress } = options;
  const bundling = config.WORKFLOW_BUNDLE ?? cachedWorkflowBundle(config.DATA_DIR);
  const loading = Promise.all([import('../processes/server.ts'), import('../processes/worker.ts'), bundling]);
  // Not awaited if the engines fail first.
  loading.catch(() => undefined);

  const stack = await openStack(options);
  const db = createDatabase({
    connectionString: stack.databaseUrl,
    poolSize: 4,
    applicationName: connectionName('local'),
    onError: (error) => logger.warn({ err: error }, 'database connection lost'),
  });
  let server: RunningService | undefined;
  let worker: RunningWorker | undefined;
  let stopping: Promise<void> | undefined;
  const inOrder = async (...steps: (() => Promise<void> | undefined)[]) => {
    for (const step of steps) {
      try {
        await step();
      } catch (error) {
        logger.error({ err: error }, 'a part did not stop cleanly');
      }
    }
  };
  const stopAll = async () => {
    const stopped = inOrder(
      () => server?.stop(),
      () => worker?.stop(),
      () => db.destroy(),
    );
    if (!(await settlesWithin(STOP_DEADLINE_MS.worker, stopped))) {
      logger.warn(`not stopped within ${STOP_DEADLINE_MS.worker / 1_000} seconds; ending the engines anyway`);
    }
    await inOrder(() => stack.stop());
    // Work that waited for a hanging engine can end now.
    await settlesWithin(AFTER_ENGINES_MS, stopped);
  };
  const stop = () => {
    stopping ??= stopAll();
    return stopping;
  };

  try {
    signal.throwIfAborted();
    if (config.DATABASE_URL === undefined) {
      await migrateEmbedded(stack.databaseUrl, config.PARTITION_MINUTES, onProgress);
    } else await requireSchema(db);
    onProgress('Starting server and worker');
    const [{ startServer }, { startWorker }, bundle] = await loading;
    signal.throwIfAborted();
    const connected = withLocalKeys(connect(config, stack, bundle));
    server = await startServer(connected, logger.child({ process: 'server' })).catch((error: unknown) => {
      throw explainListening(error, config);
    });
    // The server in this process has the configured metrics port.
    const starting = startWorker({ ...connected, METRICS_PORT: 0 }, logger.child({ process: 'worker' })).then(
      (running) => {
        worker = running;
        return running;
      },
    );
    const failed = Promise.race([
      starting.then(({ done }) => done).then(() => new Promise<never>(() => undefined)),
      stack.failed.catch((error: unknown) => {
        throw new UserError(errorMessage(error), { cause: error });
      }),
    ]);
    // The caller handles it after the start.
    failed.catch(() => undefined);
    const waits: Promise<unknown>[] = [starting, failed, untilAborted(signal)];
    if (config.TEMPORAL_ADDRESS !== undefined) waits.push(sleep(EXTERNAL_TEMPORAL_WAIT_MS));
    await Promise.race(waits);
    signal.throwIfAborted();
    if (worker === undefined) {
      onProgress(`Temporal at ${connected.TEMPORAL_ADDRESS} does not respond yet; the worker waits for it`);
    }
    const { url } = server;
    const { temporalUiUrl } = stack;
    return { url, temporalUiUrl, dataDir: resolve(config.DATA_DIR), config: connected, db, failed, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function migrateEmbedded(
  connectionString: string,
  partitionMinutes: number,
  onProgress: Progress,
): Promise<void> {
  const db = createDatabase({ connectionString, poolSize: 1, statementTimeout: 0 });
  try {
    await migrateToLatest(db, onProgress, partitionMinutes);
  } finally {
    await db.destroy();
  }
}

async function openStack({ config, env, onProgress, signal }: LocalServiceOptions): Promise<Stack> {
  try {
    return await startStack({ dataDir: config.DATA_DIR, env, keepRunning: true, onProgress, signal });
  } catch (error) {
    signal.throwIfAborted();
    throw new UserError(errorMessage(error), { cause: error });
  }
}

/** The configuration with our engines' addresses, without settings for external engines. */
function connect(config: Config, stack: Stack, workflowBundle: string): ConnectedConfig {
  return {
    ...config,
    DATABASE_URL: stack.databaseUrl,
    TEMPORAL_ADDRESS: stack.temporalAddress,
    TEMPORAL_NAMESPACE: stack.temporalNamespace,
    WORKFLOW_BUNDLE: workflowBundle,
    ...(config.DATABASE_URL === undefined ? { DATABASE_DIRECT_URL: undefined } : {}),
    ...(config.TEMPORAL_ADDRESS === undefined ? { TEMPORAL_API_KEY: undefined, TEMPORAL_TLS: false } : {}),
  };
}

/** Names the variable of an address that cannot be bound. */
function explainListening(error: unknown, { HOST, PORT }: Config): unknown {
  switch (errorCode(error)) {
    case 'EADDRINUSE':
      return new UserError(`PORT ${PORT} on ${HOST} is taken by another process. Set PORT to a free one.`);
    case 'EACCES':
      return new UserError(`PORT ${PORT} may not be used by this user. Set PORT to one above 1023.`);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new UserError(`HOST ${HOST} is not an address of this machine.`);
    default:
      return error;
  }
}

/** Whether work that never rejects ends in time. */
async function settlesWithin(timeoutMs: number, work: Promise<void>): Promise<boolean> {
  const abort = new AbortController();
  const late = sleep(timeoutMs, false, { signal: abort.signal }).catch(() => false);
  const inTime = await Promise.race([work.then(() => true), late]);
  abort.abort();
  return inTime;
}

/** Resolves when the signal is aborted. */
export const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });

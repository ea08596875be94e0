import { mkdirSync } from 'node:fs';
import { join, sep } from 'node:path';
import { z } from 'zod';
import { accepts, freePorts, LOOPBACK } from '../ports.ts';
import { type Progress, spawnEngine, untilReady, withAttempts } from './engine.ts';
import { invocation } from './privileges.ts';
import { endProcess, findProcesses, isAlive, processIdentitySchema } from './process-identity.ts';
import type { TemporalCli } from './temporal-release.ts';

/** The search attributes of our workflows, all of type Keyword. */
export const SEARCH_ATTRIBUTES = ['WorkspaceId', 'ArticleId', 'EndpointId', 'EventType', 'JobKind'] as const;

/** The dev server makes this namespace itself. */
export const TEMPORAL_NAMESPACE = 'default';

/**
 * Tasks of a backlog are handed out by fairness key in turn, not in the order they came (design.md §7). Turns are kept
 * within a partition, so a queue has one.
 */
const DYNAMIC_CONFIG = {
  'matching.enableFairness': true,
  'matching.numTaskqueueReadPartitions': 1,
  'matching.numTaskqueueWritePartitions': 1,
} as const;

const TEMPORAL_END = [
  { signal: 'SIGTERM', waitMs: 10_000 },
  { signal: 'SIGKILL', waitMs: 2_000 },
] as const;

export const temporalEngineSchema = z.object({
  process: processIdentitySchema,
  /** host:port of the gRPC frontend. */
  address: z.string(),
  /** Address of the web UI; null when it runs without. */
  uiUrl: z.string().nullable(),
  /** Its executable, for restarts. */
  cli: z.object({ path: z.string(), version: z.string() }).optional(),
});

/** A Temporal dev server started by this process or an earlier one. */
export type TemporalEngine = z.infer<typeof temporalEngineSchema>;

export type TemporalOptions = {
  cli: Pick<TemporalCli, 'path' | 'version'>;
  dataDir: string;
  ui: boolean;
  /** False for data that need not survive a crash of the machine. */
  durable: boolean;
  /** In its own process group, so that Ctrl-C does not reach it. */
  detached: boolean;
  /** Port of the gRPC frontend. Default: a free port. */
  port?: number;
  /** Port of the web UI. Default: a free port. */
  uiPort?: number;
  /** Called once the process exists, before it is ready. */
  onSpawn: (engine: TemporalEngine) => void;
  onProgress: Progress;
  signal?: AbortSignal | undefined;
};

/**
 * Starts Temporal's dev server on loopback ports and waits until its namespace responds.
 *
 * @throws Error with the last lines of its log when it does not come up
 */
export async function startTemporal(options: TemporalOptions): Promise<TemporalEngine> {
  options.onProgress('Starting Temporal');
  const storage = await storageArguments(options);
  return withAttempts(async () => {
    const [freePort = 0, freeUiPort = 0, httpPort = 0, metricsPort = 0] = await freePorts(4);
    const { port = freePort, uiPort = freeUiPort } = options;
    const { path, version } = options.cli;
    const args = ['server', 'start-dev', '--ip', LOOPBACK, '--port', String(port)];
    args.push('--http-port', String(httpPort), '--metrics-port', String(metricsPort));
    args.push(...(options.ui ? ['--ui-port', String(uiPort)] : ['--headless']));
    args.push('--log-level', 'error', ...storage);
    for (const [key, value] of Object.entries(DYNAMIC_CONFIG))
      args.push('--dynamic-config-value', `${key}=${value}`);
    // Used only when the namespace is created; the service also registers them at every start.
    for (const name of SEARCH_ATTRIBUTES) args.push('--search-attribute', `${name}=Keyword`);
    const launch = { account: null, paths: [], dieWithParent: !options.detached };
    const spawned = await spawnEngine('Temporal', invocation(path, args, launch), {
      logFile: temporalLog(options.dataDir),
      detached: options.detached,
    });
    const address = `${LOOPBACK}:${port}`;
    const uiUrl = options.ui ? `http://${LOOPBACK}:${uiPort}` : null;
    const engine = { process: spawned.process, address, uiUrl, cli: { path, version } };
    options.onSpawn(engine);
    const wait = { timeoutMs: 60_000, signal: options.signal };
    await untilReady('Temporal', spawned, () => isServing(engine), wait);
    return engine;
  }, options.signal);
}

/** Restarts a dead dev server on the same data and ports. */
export async function restartTemporal(
  engine: TemporalEngine,
  options: Omit<TemporalOptions, 'cli'>,
): Promise<TemporalEngine> {
  if (engine.cli === undefined) throw new Error('The executable that Temporal ran from is unknown.');
  return startTemporal({
    ...options,
    cli: engine.cli,
    port: Number(engine.address.split(':')[1]),
    ...(engine.uiUrl === null ? {} : { uiPort: Number(new URL(engine.uiUrl).port) }),
  });
}

/** Failed probes before a running engine counts as frozen: on a busy machine a response may take seconds. */
const MAX_PROBES = 4;

/** Whether an earlier process's engine still runs and responds, and so can be used. */
export async function temporalResponds(engine: TemporalEngine): Promise<boolean> {
  for (let probe = 0; probe < MAX_PROBES && isAlive(engine.process); probe += 1) {
    if (await isServing(engine)) return true;
  }
  return false;
}

/** Ends the dev server; nothing is lost with a database file. */
export function stopTemporal(engine: TemporalEngine): Promise<void> {
  return endProcess(engine.process, TEMPORAL_END);
}

/** The server log of a data folder. */
export const temporalLog = (dataDir: string): string => join(dataDir, 'logs', 'temporal.log');

async function storageArguments(options: TemporalOptions): Promise<string[]> {
  const folder = join(options.dataDir, 'temporal');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // End a server whose owner died before recording it: two on one file would corrupt it.
  for (const left of findProcesses(`--db-filename ${folder}${sep}`)) await endProcess(left, TEMPORAL_END);
  return [
    // The schema is never migrated, so each version has its own file.
    ...['--db-filename', join(folder, `temporal-${options.cli.version}.db`)],
    // Three times as fast as the defaults, and faster than a database in memory; either survives a crash of the process.
    ...['--sqlite-pragma', 'journal_mode=WAL'],
    ...['--sqlite-pragma', `synchronous=${options.durable ? 'NORMAL' : 'OFF'}`],
  ];
}

async function isServing(engine: TemporalEngine): Promise<boolean> {
  if (!(await accepts(Number(engine.address.split(':')[1])))) return false;
  if (engine.uiUrl !== null && !(await accepts(Number(new URL(engine.uiUrl).port)))) return false;
  // Loaded here, because some admin commands need only Postgres.
  const { Connection } = await import('@temporalio/client');
  try {
    const connection = await Connection.connect({ address: engine.address, connectTimeout: 2_000 });
    try {
      const describe = () => connection.workflowService.describeNamespace({ namespace: TEMPORAL_NAMESPACE });
      await connection.withDeadline(Date.now() + 2_000, describe);
      return true;
    } finally {
      await connection.close();
    }
  } catch {
    return false;
  }
}

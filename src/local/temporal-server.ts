import { mkdirSync } from 'node:fs';
import { join, sep } from 'node:path';
import { z } from 'zod';
import { accepts, freePorts, LOOPBACK } from '../ports.ts';
import { type Progress, spawnEngine, untilReady, withAttempts } from './engine.ts';
import { invocation } from './privileges.ts';
import { endProcess, findProcesses, isAlive, processIdentitySchema } from './process-identity.ts';
import type { TemporalCli } from './temporal-release.ts';

/** The search attributes of our workflows, all of type Keyword (design.md §10). */
export const SEARCH_ATTRIBUTES = ['WorkspaceId', 'ArticleId', 'EndpointId', 'EventType', 'JobKind'] as const;

/** The dev server makes this namespace itself. */
export const TEMPORAL_NAMESPACE = 'default';

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
  /** What it runs from, so that it can be restarted as it was. Older releases did not record it. */
  cli: z.object({ path: z.string(), version: z.string() }).optional(),
});

/** A Temporal dev server that this code started, now or in an earlier life. */
export type TemporalEngine = z.infer<typeof temporalEngineSchema>;

export type TemporalOptions = {
  cli: Pick<TemporalCli, 'path' | 'version'>;
  dataDir: string;
  ui: boolean;
  /** False keeps everything in memory, gone when the server ends. */
  durable: boolean;
  /** In its own process group, so that Ctrl-C does not reach it. */
  detached: boolean;
  /** Of the gRPC frontend; a free one when omitted. */
  port?: number;
  /** Of the web UI; a free one when omitted. */
  uiPort?: number;
  /** Called as soon as there is a process, before it is ready. */
  onSpawn: (engine: TemporalEngine) => void;
  onProgress: Progress;
  signal?: AbortSignal | undefined;
};

/**
 * Starts Temporal's dev server on loopback ports and waits until its namespace answers.
 *
 * @throws Error with the last lines of its log when it does not come up
 */
export async function startTemporal(options: TemporalOptions): Promise<TemporalEngine> {
  options.onProgress('Starting Temporal');
  const storage = options.durable ? await storageArguments(options) : [];
  return withAttempts(async () => {
    const [freePort = 0, freeUiPort = 0, httpPort = 0, metricsPort = 0] = await freePorts(4);
    const { port = freePort, uiPort = freeUiPort } = options;
    const { path, version } = options.cli;
    const args = ['server', 'start-dev', '--ip', LOOPBACK, '--port', String(port)];
    args.push('--http-port', String(httpPort), '--metrics-port', String(metricsPort));
    args.push(...(options.ui ? ['--ui-port', String(uiPort)] : ['--headless']));
    args.push('--log-level', 'error', ...storage);
    // These count only when the namespace is made; the service registers them at every boot as well.
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

/** Starts a dev server that has died on the same data and the same ports. */
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

/** How often an engine that runs is asked before it counts as frozen: on a busy machine one answer may take seconds. */
const QUESTIONS = 4;

/** Whether an engine from an earlier life still runs and answers, and so can be used as it is. */
export async function temporalAnswers(engine: TemporalEngine): Promise<boolean> {
  for (let asked = 0; asked < QUESTIONS && isAlive(engine.process); asked += 1) {
    if (await isServing(engine)) return true;
  }
  return false;
}

/** Ends the dev server; with a database file nothing of it is lost. */
export function stopTemporal(engine: TemporalEngine): Promise<void> {
  return endProcess(engine.process, TEMPORAL_END);
}

/** Where a server of this data folder logs. */
export const temporalLog = (dataDir: string): string => join(dataDir, 'logs', 'temporal.log');

async function storageArguments(options: TemporalOptions): Promise<string[]> {
  const folder = join(options.dataDir, 'temporal');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // A server whose owner died before recording its process: two on one file would corrupt it.
  for (const left of findProcesses(`--db-filename ${folder}${sep}`)) await endProcess(left, TEMPORAL_END);
  return [
    // The schema is made once and never migrated, so each version has a file of its own.
    ...['--db-filename', join(folder, `temporal-${options.cli.version}.db`)],
    // Three times the rate of the defaults; WAL with synchronous=NORMAL survives a crash of the process.
    ...['--sqlite-pragma', 'journal_mode=WAL', '--sqlite-pragma', 'synchronous=NORMAL'],
  ];
}

async function isServing(engine: TemporalEngine): Promise<boolean> {
  if (!(await accepts(Number(engine.address.split(':')[1])))) return false;
  if (engine.uiUrl !== null && !(await accepts(Number(new URL(engine.uiUrl).port)))) return false;
  // Loaded here: the admin commands that need only Postgres do not pay for it.
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

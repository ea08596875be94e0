import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { EngineExitedError } from '../../src/local/engine.ts';
import { type PostgresEngine, postgresLog, startPostgres, stopPostgres } from '../../src/local/postgres.ts';
import { isAlive, type ProcessIdentity } from '../../src/local/process-identity.ts';
import { findTemporalCli } from '../../src/local/temporal-cli.ts';
import { startTemporal, stopTemporal, type TemporalEngine } from '../../src/local/temporal-server.ts';
import { accepts } from '../../src/ports.ts';
import { migrate, temporaryFolder, writeBundle } from './engines.ts';
import { print } from './report.ts';

/** An engine that keeps everything on disk and comes back on the same port. */
export interface DurableEngine {
  /** kill -9; resolves when the process is gone. */
  kill(): Promise<void>;
  /** Starts it again on its files; resolves when it responds. */
  restart(): Promise<void>;
}

export interface DurableEngines {
  readonly databaseUrl: string;
  readonly temporalAddress: string;
  /** File that Postgres logs to. */
  readonly postgresLog: string;
  readonly workflowBundle: string;
  readonly postgres: DurableEngine;
  readonly temporal: DurableEngine;
  stop(): Promise<void>;
}

const RESTART_MS = 60_000;

/** A port below those the system gives to outgoing connections, so that it is still free after a kill. */
export async function quietPort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000);
    if (!(await accepts(port))) return port;
  }
}

async function killAndWait(identity: ProcessIdentity): Promise<void> {
  process.kill(identity.pid, 'SIGKILL');
  while (isAlive(identity)) await sleep(10);
}

/** The processes of a killed Postgres can live on for a moment and hold its shared memory. */
async function patiently<Engine>(start: () => Promise<Engine>): Promise<Engine> {
  const deadline = Date.now() + RESTART_MS;
  for (;;) {
    try {
      return await start();
    } catch (error) {
      if (!(error instanceof EngineExitedError) || Date.now() > deadline) throw error;
      await sleep(500);
    }
  }
}

/** Postgres with fsync and Temporal's dev server with a database file, as `npm start` runs them, on fixed ports. */
export async function startDurableEngines(): Promise<DurableEngines> {
  const folder = temporaryFolder();
  const cli = await findTemporalCli({ env: process.env, onProgress: print });
  const ports = { postgres: await quietPort(), temporal: await quietPort() };
  const common = {
    dataDir: folder.path,
    durable: true,
    detached: false,
    onSpawn: () => undefined,
    onProgress: () => undefined,
  };
  const openPostgres = () => patiently(() => startPostgres({ ...common, port: ports.postgres }));
  const openTemporal = () =>
    patiently(() => startTemporal({ ...common, cli, ui: false, port: ports.temporal }));
  let postgres: PostgresEngine = await openPostgres();
  let temporal: TemporalEngine = await openTemporal();
  await migrate(postgres.databaseUrl);
  return {
    databaseUrl: postgres.databaseUrl,
    temporalAddress: temporal.address,
    postgresLog: postgresLog(folder.path),
    workflowBundle: await writeBundle(folder.path),
    postgres: {
      kill: () => killAndWait(postgres.process),
      async restart() {
        postgres = await openPostgres();
      },
    },
    temporal: {
      kill: () => killAndWait(temporal.process),
      async restart() {
        temporal = await openTemporal();
      },
    },
    async stop() {
      await stopTemporal(temporal);
      await stopPostgres(postgres);
      folder.remove();
    },
  };
}

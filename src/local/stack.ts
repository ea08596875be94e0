import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { errorMessage } from '../error-text.ts';
import { anySignal } from '../pause.ts';
import type { Progress } from './engine.ts';
import { type LockHolder, waitForLock } from './lock.ts';
import {
  checkDatabase,
  type PostgresEngine,
  postgresLog,
  postgresResponds,
  restartPostgres,
  startPostgres,
  stopPostgres,
} from './postgres.ts';
import { isAlive, ownIdentity } from './process-identity.ts';
import { readStackRecord, removeStackRecord, type StackRecord, writeStackRecord } from './stack-file.ts';
import { type KeptEngine, type Supervision, superviseEngines } from './supervision.ts';
import { findTemporalCli } from './temporal-cli.ts';
import {
  restartTemporal,
  startTemporal,
  stopTemporal,
  TEMPORAL_NAMESPACE,
  type TemporalEngine,
  temporalLog,
  temporalResponds,
} from './temporal-server.ts';

/** How long a start waits for an admin command that holds the database, in milliseconds. */
const COMMAND_WAIT_MS = 60_000;

export type StackOptions = {
  /**
   * Folder for all data of the engines, created when missing. Default: `.data`. When ephemeral, a new folder is made in it,
   * by default among the system's temporary ones.
   */
  dataDir?: string;
  /** Source of DATABASE_URL, TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and TEMPORAL_CLI_PATH. Default: process.env. */
  env?: NodeJS.ProcessEnv;
  /** With Temporal's web UI. Default: true unless ephemeral. */
  ui?: boolean;
  /** For tests: nothing is kept or synced to disk, and the engines end with this process where possible. */
  ephemeral?: boolean;
  /** Restarts our engines at their addresses when they die, until the end or `signal`. Default: false. */
  keepRunning?: boolean;
  onProgress?: Progress;
  /** Aborts the start: everything already started is ended before the promise rejects. Later, stops restarts. */
  signal?: AbortSignal;
};

/** A database and a Temporal server. */
export type Stack = {
  /** Contains a password when the database is ours: never logged. */
  databaseUrl: string;
  /** host:port of Temporal's gRPC frontend. */
  temporalAddress: string;
  temporalNamespace: string;
  /** Null for an external server or one without UI. */
  temporalUiUrl: string | null;
  /** Rejects, in plain words, when an engine can't be kept running; never resolves. */
  failed: Promise<never>;
  /** Ends our engines, Temporal first, and forgets them. External engines are not touched. */
  stop(): Promise<void>;
};

/** The data folder is in use by a live process. */
export class StackRunningError extends Error {
  override readonly name = 'StackRunningError';
  readonly holder: LockHolder;

  constructor(dataDir: string, holder: LockHolder) {
    super(
      `A stack is already running on ${dataDir} (process ${holder.pid}). ` +
        'Stop that process first, or set DATA_DIR to another folder.',
    );
    this.holder = holder;
  }
}

/**
 * Starts Postgres unless DATABASE_URL is set, and Temporal unless TEMPORAL_ADDRESS is set. Engines of a crashed owner are
 * taken over if they respond, else replaced.
 *
 * @throws StackRunningError when another live process has a stack on the folder; Error in plain words when an engine
 * does not come up (the other is then ended again)
 */
export async function startStack(options: StackOptions = {}): Promise<Stack> {
  const { ephemeral = false, env = process.env } = options;
  const external = { databaseUrl: env.DATABASE_URL || null, temporalAddress: env.TEMPORAL_ADDRESS || null };
  if (external.databaseUrl !== null) await checkDatabase(external.databaseUrl);
  const dataDir = ephemeral ? temporaryFolder(options.dataDir) : folderOf(options.dataDir);
  const needsLock = external.databaseUrl === null || external.temporalAddress === null;
  const lock = needsLock ? await lockFolder(dataDir, options.signal) : null;
  const abandon = new AbortController();
  const session: Session = {
    dataDir,
    durable: !ephemeral,
    detached: !ephemeral,
    ui: options.ui ?? !ephemeral,
    env,
    onProgress: options.onProgress ?? (() => undefined),
    signal: anySignal(abandon.signal, options.signal),
    record: { owner: ownIdentity(), postgres: null, temporal: null },
  };
  let supervision: Supervision | undefined;
  const release = async () => {
    await supervision?.stop();
    try {
      await stopEngines(session.record);
      if (lock !== null) removeStackRecord(dataDir);
    } finally {
      lock?.release();
    }
    if (ephemeral) rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    const previous = lock === null ? null : readStackRecord(dataDir);
    // From here on both are ours to end.
    session.record = {
      ...session.record,
      postgres: previous?.postgres ?? null,
      temporal: previous?.temporal ?? null,
    };
    const [postgres, temporal] = await startTogether(
      abandon,
      external.databaseUrl === null ? openPostgres(session) : endPostgres(session),
      external.temporalAddress === null ? openTemporal(session) : endTemporal(session),
    );
    session.signal.throwIfAborted();
    if (lock !== null) writeStackRecord(dataDir, session.record);
    const kept = options.keepRunning ? keptEngines(session, postgres, temporal) : [];
    supervision = superviseEngines(kept, session);
    let stopping: Promise<void> | undefined;
    return {
      databaseUrl: postgres?.databaseUrl ?? external.databaseUrl ?? '',
      temporalAddress: temporal?.address ?? external.temporalAddress ?? '',
      temporalNamespace:
        temporal === null ? env.TEMPORAL_NAMESPACE || TEMPORAL_NAMESPACE : TEMPORAL_NAMESPACE,
      temporalUiUrl: temporal?.uiUrl ?? null,
      failed: supervision.failed,
      stop() {
        stopping ??= release();
        return stopping;
      },
    };
  } catch (error) {
    await release().catch((cause: unknown) => session.onProgress(errorMessage(cause)));
    throw error;
  }
}

type Session = {
  dataDir: string;
  durable: boolean;
  detached: boolean;
  ui: boolean;
  env: NodeJS.ProcessEnv;
  onProgress: Progress;
  signal: AbortSignal;
  record: StackRecord;
};

/** The data folder's real path, so that a symbolic link to it is not a second stack. */
function folderOf(dataDir = '.data'): string {
  mkdirSync(dataDir, { recursive: true });
  return realpathSync(resolve(dataDir));
}

const temporaryFolder = (parent = tmpdir()): string => mkdtempSync(join(realpathSync(parent), 'wcs-'));

async function lockFolder(dataDir: string, signal: AbortSignal | undefined) {
  const attempt = await waitForLock(join(dataDir, 'stack.lock'), 'stack', {
    timeoutMs: COMMAND_WAIT_MS,
    signal,
    // Wait only for commands, which end soon.
    keepWaiting: (holder) => holder.purpose === 'command',
  });
  if ('heldBy' in attempt) throw new StackRunningError(dataDir, attempt.heldBy);
  return attempt.lock;
}

/**
 * Waits for both even when one fails, so that no engine is still starting during the clean-up. The first failure aborts
 * the other.
 */
async function startTogether<A, B>(
  abandon: AbortController,
  first: Promise<A>,
  second: Promise<B>,
): Promise<[A, B]> {
  try {
    return await Promise.all([first, second]);
  } catch (error) {
    abandon.abort(error);
    await Promise.allSettled([first, second]);
    throw error;
  }
}

async function openPostgres(session: Session): Promise<PostgresEngine> {
  const left = session.record.postgres;
  if (left !== null && (await postgresResponds(left))) return left;
  if (left !== null && isAlive(left.process)) session.onProgress('Ending the Postgres of an earlier start');
  await endPostgres(session);
  return startPostgres({ ...session, onSpawn: (postgres) => note(session, { postgres }) });
}

async function openTemporal(session: Session): Promise<TemporalEngine> {
  const left = session.record.temporal;
  const usable = left?.cli !== undefined && (left.uiUrl !== null) === session.ui;
  if (left !== null && usable && (await temporalResponds(left))) return left;
  if (left !== null && isAlive(left.process)) session.onProgress('Ending the Temporal of an earlier start');
  await endTemporal(session);
  const cli = await findTemporalCli(session);
  return startTemporal({ ...session, cli, onSpawn: (temporal) => note(session, { temporal }) });
}

/** The engines to keep running, read from the current record. */
function keptEngines(
  session: Session,
  postgres: PostgresEngine | null,
  temporal: TemporalEngine | null,
): KeptEngine[] {
  const engines: KeptEngine[] = [];
  const again = (signal: AbortSignal) => ({ ...session, signal, onProgress: () => undefined });
  if (postgres !== null) {
    engines.push({
      name: 'Postgres',
      port: Number(new URL(postgres.databaseUrl).port),
      logFile: postgresLog(session.dataDir),
      process: () => (session.record.postgres ?? postgres).process,
      async restart(signal) {
        const onSpawn = (spawned: PostgresEngine) => note(session, { postgres: spawned });
        await restartPostgres(postgres, { ...again(signal), onSpawn });
      },
    });
  }
  if (temporal !== null) {
    engines.push({
      name: 'Temporal',
      port: Number(temporal.address.split(':')[1]),
      logFile: temporalLog(session.dataDir),
      process: () => (session.record.temporal ?? temporal).process,
      async restart(signal) {
        const onSpawn = (spawned: TemporalEngine) => note(session, { temporal: spawned });
        await restartTemporal(temporal, { ...again(signal), onSpawn });
      },
    });
  }
  return engines;
}

async function endPostgres(session: Session): Promise<null> {
  if (session.record.postgres !== null) await stopPostgres(session.record.postgres);
  session.record = { ...session.record, postgres: null };
  return null;
}

async function endTemporal(session: Session): Promise<null> {
  if (session.record.temporal !== null) await stopTemporal(session.record.temporal);
  session.record = { ...session.record, temporal: null };
  return null;
}

/** Writes the record at once, so that the next start knows the process even after a crash. */
function note(session: Session, engine: Partial<StackRecord>): void {
  session.record = { ...session.record, ...engine };
  writeStackRecord(session.dataDir, session.record);
}

/** Ends both in parallel. A failure of one does not affect the other. */
async function stopEngines({ postgres, temporal }: StackRecord): Promise<void> {
  const ends = await Promise.allSettled([
    postgres === null ? undefined : stopPostgres(postgres),
    temporal === null ? undefined : stopTemporal(temporal),
  ]);
  const failures = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []));
  if (failures.length > 0) throw new AggregateError(failures, 'An engine could not be ended.');
}

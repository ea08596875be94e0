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
  postgresAnswers,
  postgresLog,
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
  temporalAnswers,
  temporalLog,
} from './temporal-server.ts';

/** How long a start waits for an admin command that has the database for itself, in milliseconds. */
const COMMAND_WAIT_MS = 60_000;

export type StackOptions = {
  /** Folder of everything the engines keep; made when missing; `.data`. An ephemeral stack has a temporary one. */
  dataDir?: string;
  /** Where DATABASE_URL, TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and TEMPORAL_CLI_PATH are looked up; process.env. */
  env?: NodeJS.ProcessEnv;
  /** With Temporal's web UI; true unless ephemeral. */
  ui?: boolean;
  /** For tests: nothing is kept, nothing is synced to disk, and the engines end with this process where possible. */
  ephemeral?: boolean;
  /** Whether an engine of ours that dies is started again at its address, until the end or `signal`; false. */
  keepRunning?: boolean;
  onProgress?: Progress;
  /** Abandons the start: what was started already is ended before the promise rejects. Later, no engine is started again. */
  signal?: AbortSignal;
};

/** A database and a Temporal server to work with. */
export type Stack = {
  /** With a password when the database is ours: not for logs. */
  databaseUrl: string;
  /** host:port of Temporal's gRPC frontend. */
  temporalAddress: string;
  temporalNamespace: string;
  /** Null when the server is not ours or runs without its UI. */
  temporalUiUrl: string | null;
  /** Rejects, in plain words, when an engine can't be kept running; never resolves. */
  failed: Promise<never>;
  /** Ends the engines that are ours, Temporal first, and forgets them. Engines of others are left alone. */
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
 * Brings up what the environment does not name: Postgres unless DATABASE_URL is set, Temporal unless TEMPORAL_ADDRESS
 * is. Engines that an earlier owner left running when it crashed are taken over if they answer, and replaced if not.
 *
 * @throws StackRunningError when another live process has a stack on the folder; Error in plain words when an engine
 * does not come up (the other is then ended again)
 */
export async function startStack(options: StackOptions = {}): Promise<Stack> {
  const { ephemeral = false, env = process.env } = options;
  const external = { databaseUrl: env.DATABASE_URL || null, temporalAddress: env.TEMPORAL_ADDRESS || null };
  if (external.databaseUrl !== null) await checkDatabase(external.databaseUrl);
  const dataDir = ephemeral ? mkdtempSync(join(realpathSync(tmpdir()), 'wcs-')) : folderOf(options.dataDir);
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
    // Both are ours to end from here on, whatever happens.
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

/** The data folder by its one true name, so that two names for it (a symbolic link) are not two stacks. */
function folderOf(dataDir = '.data'): string {
  mkdirSync(dataDir, { recursive: true });
  return realpathSync(resolve(dataDir));
}

async function lockFolder(dataDir: string, signal: AbortSignal | undefined) {
  const attempt = await waitForLock(join(dataDir, 'stack.lock'), 'stack', {
    timeoutMs: COMMAND_WAIT_MS,
    signal,
    // A command is over soon; a stack stays.
    keepWaiting: (holder) => holder.purpose === 'command',
  });
  if ('heldBy' in attempt) throw new StackRunningError(dataDir, attempt.heldBy);
  return attempt.lock;
}

/**
 * Waits for both even when one fails, so that nothing is still being started while the rest is being ended; the first
 * failure has the other abandoned.
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
  if (left !== null && (await postgresAnswers(left))) return left;
  if (left !== null && isAlive(left.process)) session.onProgress('Ending the Postgres of an earlier start');
  await endPostgres(session);
  return startPostgres({ ...session, onSpawn: (postgres) => note(session, { postgres }) });
}

async function openTemporal(session: Session): Promise<TemporalEngine> {
  const left = session.record.temporal;
  const usable = left?.cli !== undefined && (left.uiUrl !== null) === session.ui;
  if (left !== null && usable && (await temporalAnswers(left))) return left;
  if (left !== null && isAlive(left.process)) session.onProgress('Ending the Temporal of an earlier start');
  await endTemporal(session);
  const cli = await findTemporalCli(session);
  return startTemporal({ ...session, cli, onSpawn: (temporal) => note(session, { temporal }) });
}

/** What is to be kept running, as the record has it at each moment. */
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

/** Written at once: if we die now, the next start knows the process. */
function note(session: Session, engine: Partial<StackRecord>): void {
  session.record = { ...session.record, ...engine };
  writeStackRecord(session.dataDir, session.record);
}

/** Both at once, since neither depends on the other. A failure of one does not stop the end of the other. */
async function stopEngines({ postgres, temporal }: StackRecord): Promise<void> {
  const ends = await Promise.allSettled([
    postgres === null ? undefined : stopPostgres(postgres),
    temporal === null ? undefined : stopTemporal(temporal),
  ]);
  const failures = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []));
  if (failures.length > 0) throw new AggregateError(failures, 'An engine could not be ended.');
}

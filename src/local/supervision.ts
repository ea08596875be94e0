import { setTimeout as sleep } from 'node:timers/promises';
import { accepts } from '../ports.ts';
import { EngineExitedError, type Progress } from './engine.ts';
import { isAlive, type ProcessIdentity } from './process-identity.ts';

/** Gives up after this many deaths within this time, in milliseconds. */
const MAX_DEATHS = 3;
const WITHIN_MS = 60_000;

/** Milliseconds between two checks; a check reads two small files on Linux, and spawns a process elsewhere. */
const POLL_MS = process.platform === 'linux' ? 100 : 2_000;

/** How long a port may still be held after the death of its engine, in milliseconds. */
const PORT_WAIT_MS = 2_000;

/** An engine to keep running. */
export type KeptEngine = {
  name: string;
  /** The port that its clients use. */
  port: number;
  logFile: string;
  /** Its current or last process. */
  process(): ProcessIdentity;
  /**
   * Restarts it on the same data and port; the signal aborts.
   * @throws EngineExitedError when it dies during the start
   */
  restart(signal: AbortSignal): Promise<void>;
};

/** Restarts engines when they die. */
export type Supervision = {
  /** Rejects, in plain words, when an engine can't be kept running; never resolves. */
  failed: Promise<never>;
  /** Stops restarts; resolves when none is in progress. Never rejects. */
  stop(): Promise<void>;
};

/** Watches engines and restarts those that die. The signal has the effect of `stop`. */
export function superviseEngines(
  engines: readonly KeptEngine[],
  { onProgress, signal }: { onProgress: Progress; signal: AbortSignal },
): Supervision {
  const ceased = new AbortController();
  const either = AbortSignal.any([ceased.signal, signal]);
  const watches = engines.map((engine) => keepRunning(engine, onProgress, either));
  const failed = Promise.all(watches).then(() => new Promise<never>(() => undefined));
  // Callers that await it get the error.
  failed.catch(() => undefined);
  return {
    failed,
    async stop() {
      ceased.abort();
      await Promise.allSettled(watches);
    },
  };
}

/** A death during a restart counts, too. */
async function keepRunning(engine: KeptEngine, onProgress: Progress, signal: AbortSignal): Promise<void> {
  const { name, logFile } = engine;
  let deaths: number[] = [];
  let lastWords = `Its log is ${logFile}.`;
  while (!signal.aborted) {
    const process = engine.process();
    if (isAlive(process)) {
      await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
      continue;
    }
    const diedAt = performance.now();
    deaths = [...deaths.filter((at) => at > diedAt - WITHIN_MS), diedAt];
    if (deaths.length >= MAX_DEATHS) {
      throw new Error(
        `${name} has died ${MAX_DEATHS} times within a minute, so it is given up. ${lastWords}`,
      );
    }
    onProgress(`${name} has died (process ${process.pid}): starting it again on the same data.`);
    try {
      await requireFreePort(engine);
      await engine.restart(signal);
      onProgress(`${name} is back (${((performance.now() - diedAt) / 1_000).toFixed(1)} s).`);
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof EngineExitedError)) throw error;
      lastWords = error.message;
    }
  }
}

/** @throws Error when another process has taken the port */
async function requireFreePort({ name, port }: KeptEngine): Promise<void> {
  const deadline = performance.now() + PORT_WAIT_MS;
  while (await accepts(port)) {
    if (performance.now() > deadline) {
      throw new Error(
        `${name} cannot be restarted: another process has taken its port ${port}. ` +
          'Start the service again: the data is kept, and a free port is chosen.',
      );
    }
    await sleep(100);
  }
}

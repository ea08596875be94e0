import { Piscina } from 'piscina';

export interface ThreadsOptions {
  /** The module whose default export does the work. */
  readonly file: URL;
  /** The most threads. The caller admits no more work at once. */
  readonly threads: number;
  /** How long an idle thread lives, in milliseconds. */
  readonly idleMs: number;
  readonly oldHeapMb: number;
  readonly youngHeapMb: number;
  /** By how much the event loop goes before them, as in nice(1). */
  readonly nice: number;
}

/** Threads that start on demand. */
export interface TrackedThreads<Posted, Result> {
  /** Has a thread do this work. @throws the signal's error when it aborts: the thread is ended */
  run(posted: Posted, signal: AbortSignal): Promise<Result>;
  /** Waits for work in progress, then ends the threads. Later work starts new ones. */
  close(): Promise<void>;
}

/** Makes threads whose work is waited for before they end: Piscina's own close miscounts after work was aborted. */
export function createTrackedThreads<Posted, Result>({
  file,
  threads: most,
  idleMs,
  oldHeapMb,
  youngHeapMb,
  nice,
}: ThreadsOptions): TrackedThreads<Posted, Result> {
  let threads: Piscina<Posted, Result> | undefined;
  const inProgress = new Set<Promise<unknown>>();
  return {
    async run(posted, signal) {
      threads ??= new Piscina<Posted, Result>({
        filename: file.href,
        minThreads: 0,
        maxThreads: most,
        idleTimeout: idleMs,
        maxQueue: most,
        resourceLimits: { maxOldGenerationSizeMb: oldHeapMb, maxYoungGenerationSizeMb: youngHeapMb },
        execArgv: [],
        niceIncrement: nice,
      });
      const work = threads.run(posted, { signal });
      inProgress.add(work);
      try {
        return await work;
      } finally {
        inProgress.delete(work);
      }
    },
    async close() {
      const closing = threads;
      threads = undefined;
      await Promise.allSettled(inProgress);
      await closing?.destroy();
    },
  };
}

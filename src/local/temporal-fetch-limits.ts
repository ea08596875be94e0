import { Transform } from 'node:stream';
import { anySignal } from '../pause.ts';
import type { Progress } from './engine.ts';

/** A fetch without a byte for this long is aborted. */
const STALL_MS = 15_000;

/** The longest time of a fetch. */
const FETCH_LIMIT_MS = 10 * 60_000;

/** In bytes; far larger than any archive or executable of a release. */
const SIZE_LIMIT = 600_000_000;

/** How often progress is reported during a long fetch. */
const REPORT_EVERY_MS = 5_000;

export type FetchOptions = {
  env: NodeJS.ProcessEnv;
  onProgress: Progress;
  signal?: AbortSignal | undefined;
  /** How long a fetch may stall before it is aborted, in milliseconds. */
  stallMs?: number | undefined;
};

/** Watches one fetch: aborts `signal` when it stalls, takes too long or is too large. */
export type FetchWatch = {
  signal: AbortSignal;
  /** Call with the bytes received so far; reports progress at intervals. */
  seen(bytes: number): void;
  end(): void;
};

/** @param source named in the error of a stall */
export function watchFetch(source: string, options: FetchOptions): FetchWatch {
  const { onProgress, signal, stallMs = STALL_MS } = options;
  const controller = new AbortController();
  const giveUp = (reason: string) => controller.abort(new Error(`${source} ${reason}`));
  const stalled = setTimeout(() => giveUp(`has sent nothing for ${stallMs / 1000} s`), stallMs);
  const tooLong = setTimeout(
    () => giveUp(`has taken more than ${FETCH_LIMIT_MS / 60_000} min`),
    FETCH_LIMIT_MS,
  );
  let [most, reportedAt] = [0, Date.now()];
  return {
    signal: anySignal(controller.signal, signal),
    seen(bytes) {
      if (bytes > SIZE_LIMIT) giveUp('sent more than any release contains');
      if (bytes > most) stalled.refresh();
      most = Math.max(most, bytes);
      if (most < 1_000_000 || Date.now() - reportedAt < REPORT_EVERY_MS) return;
      reportedAt = Date.now();
      onProgress(`Fetching the Temporal CLI: ${Math.round(most / 1_000_000)} MB`);
    },
    end() {
      clearTimeout(stalled);
      clearTimeout(tooLong);
    },
  };
}

/** Passes bytes through and reports their running sum to `onBytes`. */
export function meter(onBytes: (sum: number) => void): Transform {
  let sum = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      sum += chunk.length;
      onBytes(sum);
      done(null, chunk);
    },
  });
}

/** Passes bytes through and fails when an archive unpacks to more than any release has. */
export function sizeLimit(): Transform {
  let sum = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      sum += chunk.length;
      if (sum > SIZE_LIMIT) done(new Error('the archive unpacks to more than any release contains'));
      else done(null, chunk);
    },
  });
}

import { Transform } from 'node:stream';
import { anySignal } from '../pause.ts';
import type { Progress } from './engine.ts';

/** A fetch that brings no byte for this long is given up. */
const STALL_MS = 15_000;

/** Longest time a fetch may take, however steady it is. */
const FETCH_LIMIT_MS = 10 * 60_000;

/** Far more than any archive or executable of a release has, in bytes. */
const SIZE_LIMIT = 600_000_000;

/** How often progress is reported during a long fetch. */
const REPORT_EVERY_MS = 5_000;

export type FetchOptions = {
  env: NodeJS.ProcessEnv;
  onProgress: Progress;
  signal?: AbortSignal | undefined;
  /** How long a fetch may stall before it is given up, in milliseconds. */
  stallMs?: number | undefined;
};

/** Watches one fetch: aborts `signal` when it stalls, takes too long or is too large. */
export type FetchWatch = {
  signal: AbortSignal;
  /** Call with the bytes received so far; reports to the user now and then. */
  seen(bytes: number): void;
  end(): void;
};

/** @param source what to blame for a stall */
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

/** Passes bytes on, reporting the running sum to `onBytes`. */
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

/** Passes bytes on and fails when an archive unpacks to more than any release has. */
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

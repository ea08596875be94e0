import { setTimeout as sleep } from 'node:timers/promises';

/** Waits for this many milliseconds, or until the signal. */
export const pause = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  sleep(milliseconds, undefined, { signal }).catch(() => undefined);

/** Aborts as soon as one of the signals does; absent ones never do. */
export const anySignal = (...signals: readonly (AbortSignal | undefined)[]): AbortSignal =>
  AbortSignal.any(signals.filter((signal) => signal !== undefined));

/**
 * Repeats `work` until the signal, with pauses of `everyMs` milliseconds.
 * @param onError gets the error of one failed repetition; the next one follows all the same
 */
export async function keepDoing(
  work: () => Promise<unknown>,
  { everyMs, signal, onError }: { everyMs: number; signal: AbortSignal; onError: (error: unknown) => void },
): Promise<void> {
  while (!signal.aborted) {
    await work().catch(onError);
    await pause(everyMs, signal);
  }
}

import { setTimeout as sleep } from 'node:timers/promises';

/** Waits for this many milliseconds, or until the signal. */
export const pause = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  sleep(milliseconds, undefined, { signal }).catch(() => undefined);

/** Aborts as soon as one of them does; those that are not there never do. */
export const anySignal = (...signals: readonly (AbortSignal | undefined)[]): AbortSignal =>
  AbortSignal.any(signals.filter((signal) => signal !== undefined));

/**
 * Does until the signal what finds out by itself whether there is something to do, with pauses of `everyMs` milliseconds.
 * @param onError is told of what one time failed with; the next comes all the same
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

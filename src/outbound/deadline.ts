import { SendFailure } from './failure.ts';

/** The time left of one attempt, which waits for one thing at a time. */
export interface Deadline {
  /** Aborts with a SendFailure when the time is up, or with the caller's reason when the caller aborts. */
  readonly signal: AbortSignal;
  /** Waits for a promise, but no longer than the time left. */
  race<T>(promise: Promise<T>): Promise<T>;
  /** Waits for our own work with the clock stopped: that time is not the receiver's. */
  raceUncounted<T>(promise: Promise<T>): Promise<T>;
  /**
   * Calls the listener once when the time is up, with the reason of `signal`, at once if it already is; null removes
   * it.
   */
  whenOver(listener: ((reason: unknown) => void) | null): void;
  clear(): void;
}

/** Starts the clock of one attempt. `caller` ends it early. */
export function startDeadline(timeoutMs: number, caller?: AbortSignal): Deadline {
  let over: { reason: unknown } | null = null;
  let onOver: ((reason: unknown) => void) | null = null;
  // Created on demand: most attempts reuse an open connection and need none.
  let controller: AbortController | null = null;
  let startedAt = performance.now();
  let uncountedSince: number | null = null;

  const end = (reason: unknown): void => {
    if (over !== null) return;
    over = { reason };
    onOver?.(reason);
    controller?.abort(reason);
  };
  // One timer for all that is left, reset where the clock stood still: most attempts end long before it fires.
  const look = (): void => {
    timer = null;
    if (uncountedSince !== null) return;
    const leftMs = timeoutMs - (performance.now() - startedAt);
    // Node's timers fire up to a millisecond early.
    if (leftMs > 1) timer = setTimeout(look, leftMs);
    else end(new SendFailure(`No response came within ${timeoutMs / 1_000} seconds.`));
  };
  let timer: NodeJS.Timeout | null = setTimeout(look, timeoutMs);
  const giveUp = (): void => end(caller?.reason);
  if (caller?.aborted === true) giveUp();
  else caller?.addEventListener('abort', giveUp, { once: true });

  const whenOver: Deadline['whenOver'] = (listener) => {
    onOver = listener;
    if (over !== null) listener?.(over.reason);
  };
  const race = <T>(promise: Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      whenOver(reject);
      promise.then(
        (value) => {
          onOver = null;
          resolve(value);
        },
        (error: unknown) => {
          onOver = null;
          reject(error);
        },
      );
    });

  return {
    get signal() {
      controller ??= new AbortController();
      if (over !== null) controller.abort(over.reason);
      return controller.signal;
    },
    race,
    whenOver,
    async raceUncounted(promise) {
      uncountedSince = performance.now();
      try {
        return await race(promise);
      } finally {
        startedAt += performance.now() - uncountedSince;
        uncountedSince = null;
        if (timer === null) look();
      }
    },
    clear() {
      if (timer !== null) clearTimeout(timer);
      caller?.removeEventListener('abort', giveUp);
    },
  };
}

import { SendFailure } from './failure.ts';

/** The time one attempt has left, as a signal that aborts with a SendFailure when it is over. */
export interface Deadline {
  /** Aborts when the time is over, or with the caller's reason when the caller gives up. */
  readonly signal: AbortSignal;
  /** Waits for a promise, but no longer than the signal lasts. */
  race<T>(promise: Promise<T>): Promise<T>;
  /** Waits for our own work: that time is not the receiver's, so the clock stops. */
  raceUncounted<T>(promise: Promise<T>): Promise<T>;
  clear(): void;
}

/** Starts the clock of one attempt. `caller` ends it early. */
export function startDeadline(timeoutMs: number, caller?: AbortSignal): Deadline {
  const controller = new AbortController();
  const { signal } = controller;
  const giveUp = (): void => controller.abort(caller?.reason);
  let leftMs = timeoutMs;
  let startedAt = 0;
  let timer: NodeJS.Timeout | undefined;

  const start = (): void => {
    startedAt = performance.now();
    timer = setTimeout(() => controller.abort(timeoutFailure(timeoutMs)), leftMs);
  };
  const pause = (): void => {
    clearTimeout(timer);
    leftMs = Math.max(0, leftMs - (performance.now() - startedAt));
  };
  const race = <T>(promise: Promise<T>): Promise<T> => raceSignal(promise, signal);

  if (caller?.aborted === true) giveUp();
  else caller?.addEventListener('abort', giveUp, { once: true });
  start();
  return {
    signal,
    race,
    async raceUncounted(promise) {
      pause();
      try {
        return await race(promise);
      } finally {
        start();
      }
    },
    clear() {
      clearTimeout(timer);
      caller?.removeEventListener('abort', giveUp);
    },
  };
}

function timeoutFailure(timeoutMs: number): SendFailure {
  return new SendFailure(`No answer came within ${timeoutMs / 1_000} seconds.`);
}

function raceSignal<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

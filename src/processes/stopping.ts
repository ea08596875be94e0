/** How a worker that stops ends its calls of engines (contract.md G81). */
import { ApplicationFailure } from '@temporalio/common';

/** Of a worker that only waits for these calls; what has not stopped by then is abandoned. */
export const ENGINE_CALLS_STOP = {
  shutdownGraceTime: '95 seconds',
  shutdownForceTime: '115 seconds',
} as const;
/** What batches of translations get to end: as long as a webhook attempt. */
const BATCHES_MS = 25_000;
/** What parts of articles get: most take less. */
const PARTS_MS = 90_000;

/** Signals that interrupt calls of engines a while after the worker began to stop. */
export const engineStops = (stopped: AbortSignal) => ({
  batches: interruptedAfter(stopped, BATCHES_MS),
  parts: interruptedAfter(stopped, PARTS_MS),
});

/** A signal that is aborted `ms` after another. Its reason has an activity repeated by another worker. */
export function interruptedAfter(stopped: AbortSignal, ms: number): AbortSignal {
  const controller = new AbortController();
  const interrupt = () =>
    controller.abort(
      ApplicationFailure.create({
        type: 'WorkerStopped',
        message: 'interrupted: its worker stops',
        nextRetryDelay: '1 second',
      }),
    );
  stopped.addEventListener('abort', () => setTimeout(interrupt, ms).unref(), { once: true });
  return controller.signal;
}

/** Always allowed: enough to keep a worker busy. */
const FEWEST = 150;
/** How busy an event loop may be, of the time, that is given more. */
const BUSY = 0.7;
const WINDOW_MS = 200;

/** How busy the event loop was since the last call, 0 to 1. */
export type MeasureBusy = () => number;

function createMeasure(): MeasureBusy {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}

/**
 * How many young requests a worker may have in flight. What is more than keeps its event loop busy would only wait, and make
 * another workspace's event wait with it: the bound doubles with each 200 ms in which the loop had time left, and is the
 * least again after one in which it had none. Receivers that take long to respond leave time.
 * @param most never more
 * @param clock in milliseconds
 * @returns the bound now
 */
export function createYoungBound(
  most: number,
  measure = createMeasure(),
  clock = () => performance.now(),
): () => number {
  let bound = Math.min(FEWEST, most);
  let measuredAt = clock();
  return () => {
    const windows = Math.floor((clock() - measuredAt) / WINDOW_MS);
    if (windows === 0) return bound;
    measuredAt = clock();
    bound = Math.min(most, measure() > BUSY ? FEWEST : bound * 2 ** windows);
    return bound;
  };
}

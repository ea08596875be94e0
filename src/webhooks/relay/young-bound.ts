/** Always allowed: enough to keep a worker busy. */
const FEWEST = 200;
/** How busy an event loop may be, of the time, that is given more. */
const BUSY = 0.7;
/** Of the bound: one workspace has at most half of it. */
const USED = 1 / 3;
const WINDOW_MS = 200;

/** @returns how busy the event loop was since the last call, 0 to 1 */
function createMeasure(): () => number {
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
 * another workspace's event wait with it. Like a congestion window that is validated (RFC 7661) the bound doubles after 200 ms
 * in which it was used and the loop had time left, halves after 200 ms without use, and is the least again once the loop
 * had none. Receivers that take long to respond leave time.
 * @param most never more
 * @param clock in milliseconds
 * @returns the bound now, given how many there are
 */
export function createYoungBound(
  most: number,
  measure = createMeasure(),
  clock = () => performance.now(),
): (young: number) => number {
  let bound = Math.min(FEWEST, most);
  let highest = 0;
  let measuredAt = clock();
  return (young) => {
    highest = Math.max(highest, young);
    if (clock() - measuredAt < WINDOW_MS) return bound;
    const next = highest > USED * bound ? 2 * bound : bound / 2;
    bound = Math.min(most, measure() > BUSY ? FEWEST : Math.max(FEWEST, next));
    [highest, measuredAt] = [young, clock()];
    return bound;
  };
}

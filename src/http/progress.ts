/** Ends bodies and responses that hold memory and hardly move while others wait for it (contract.md A53). */

/** Bytes a second that a body or response has to move, while somebody waits. */
const MIN_RATE = 1024;
/** Seconds over which a body's rate is taken, and a response's. */
const WINDOWS = { body: 10, response: 60 };
const TICK_MS = 1_000;

/** A body that arrives, or a response that is being sent. */
export interface Transfer {
  /** Counts bytes that have moved. */
  readonly moved: (bytes: number) => void;
  /** Time counts only while we wait for the client. */
  readonly waitsForClient: (waits: boolean) => void;
  readonly end: () => void;
}

export interface Progress {
  /** @param cut called once when the transfer was too slow while somebody waited */
  readonly track: (kind: keyof typeof WINDOWS, cut: () => void) => Transfer;
}

interface Tracked {
  /** Bytes of each of the last seconds that counted. */
  readonly recent: number[];
  readonly window: number;
  readonly cut: () => void;
  sum: number;
  now: number;
  waitsForClient: boolean;
}

/**
 * @param somebodyWaits whether a request waits for memory
 * @param tickMs a second; tests take less
 */
export function createProgress(somebodyWaits: () => boolean, tickMs = TICK_MS): Progress {
  const transfers = new Set<Tracked>();
  let timer: NodeJS.Timeout | undefined;

  const tick = (): void => {
    const isWanted = somebodyWaits();
    for (const transfer of transfers) {
      if (!transfer.waitsForClient && transfer.now === 0) continue;
      transfer.recent.push(transfer.now);
      transfer.sum += transfer.now;
      transfer.now = 0;
      if (transfer.recent.length > transfer.window) transfer.sum -= transfer.recent.shift() ?? 0;
      const isSlow = transfer.recent.length === transfer.window && transfer.sum < transfer.window * MIN_RATE;
      if (!isWanted || !isSlow) continue;
      transfers.delete(transfer);
      transfer.cut();
    }
    if (transfers.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };

  return {
    track(kind, cut) {
      const tracked: Tracked = {
        recent: [],
        window: WINDOWS[kind],
        cut,
        sum: 0,
        now: 0,
        waitsForClient: true,
      };
      transfers.add(tracked);
      timer ??= setInterval(tick, tickMs).unref();
      return {
        moved: (bytes) => {
          tracked.now += bytes;
        },
        waitsForClient: (waits) => {
          tracked.waitsForClient = waits;
        },
        end: () => transfers.delete(tracked),
      };
    },
  };
}

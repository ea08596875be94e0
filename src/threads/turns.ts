/** Shares the event loop among workspaces: work that takes long enough to delay others waits for a turn. */
import { type ServiceError, unavailable } from '../errors.ts';
import { currentShare, type Share } from './share.ts';

/** Time of one round of the event loop after which further work waits for the next round, in milliseconds. */
const ROUND_MS = 2;

interface Waiter {
  readonly since: number;
  readonly waitMs: number;
  readonly grant: () => void;
  readonly refuse: (error: Error) => void;
}

/** Hands out turns to work on the event loop. */
export interface LoopTurns {
  /**
   * Waits for a turn. While the loop's round is young that is at once; otherwise the waiting workspaces are served in turn,
   * each its oldest work first, as much in a round as fits. Between two rounds the loop does what else is due: it reads from
   * connections, so a request of another workspace waits for no more than a round.
   * @throws {ServiceError} SERVICE_UNAVAILABLE for work that waited longer than `waitMs` when its turn came
   */
  readonly take: (owner: string, waitMs: number) => Promise<void>;
  /** The same for work far below a millisecond: the first of a workspace in a round does not wait for long work of others. */
  readonly takeLight: (owner: string, waitMs: number) => Promise<void>;
  /** Pieces of work that wait. */
  readonly waiting: () => number;
}

const busy = (): ServiceError =>
  unavailable('turns', 'Too many requests of this workspace are being processed. Try again shortly.');

/** Calls `work` once no microtask is left: what was granted has done all it can. */
const afterMicrotasks = (work: () => void): void => queueMicrotask(() => process.nextTick(work));

/**
 * @param now milliseconds of a steady clock
 * @param nextRound calls back in the event loop's next round
 */
export function createLoopTurns(
  now = () => performance.now(),
  nextRound: (work: () => void) => void = setImmediate,
): LoopTurns {
  /** The waiting work of each workspace, oldest first; workspaces in the order in which they are served. */
  const line = new Map<string, Set<Waiter>>();
  /** Workspaces that had a turn in this round. */
  const served = new Set<string>();
  let roundBegan: number | null = null;
  let isWorking = false;

  const beginRound = (): void => {
    roundBegan = now();
    served.clear();
    nextRound(endRound);
  };

  const endRound = (): void => {
    roundBegan = null;
    if (line.size === 0) return;
    beginRound();
    serve();
  };

  const mayWork = (): boolean => !isWorking && roundBegan !== null && now() - roundBegan < ROUND_MS;

  const beginWork = (): void => {
    isWorking = true;
    afterMicrotasks(() => {
      isWorking = false;
      serve();
    });
  };

  const serve = (): void => {
    if (!mayWork()) return;
    for (const [owner, waiters] of line) {
      line.delete(owner);
      const [next] = waiters;
      if (next === undefined) continue;
      waiters.delete(next);
      if (waiters.size > 0) line.set(owner, waiters);
      served.add(owner);
      beginWork();
      if (now() - next.since > next.waitMs) next.refuse(busy());
      else next.grant();
      return;
    }
  };

  const take = (owner: string, waitMs: number): Promise<void> => {
    if (roundBegan === null) beginRound();
    const waiters = line.get(owner);
    if (waiters === undefined && mayWork()) {
      served.add(owner);
      beginWork();
      return Promise.resolve();
    }
    return new Promise((grant, refuse) => {
      const waiter = { since: now(), waitMs, grant, refuse };
      if (waiters === undefined) line.set(owner, new Set([waiter]));
      else waiters.add(waiter);
    });
  };

  return {
    take,
    takeLight: (owner, waitMs) => {
      if (roundBegan === null) beginRound();
      if (served.has(owner) || line.has(owner)) return take(owner, waitMs);
      served.add(owner);
      return Promise.resolve();
    },
    waiting: () => [...line.values()].reduce((sum, { size }) => sum + size, 0),
  };
}

const turns = createLoopTurns();

/** Requests and pieces of work that wait for a turn in this process. */
export const turnsAwaited = turns.waiting;

/**
 * Waits for a turn of the present workspace on this process's event loop.
 * @throws {ServiceError} SERVICE_UNAVAILABLE when it waited too long
 */
export function loopTurn(share = currentShare()): Promise<void> {
  return turns.take(share.of, share.waitMs);
}

/** `loopTurn` for the start of a request, which does little. */
export const lightTurn = ({ of, waitMs }: Pick<Share, 'of' | 'waitMs'>): Promise<void> =>
  turns.takeLight(of, waitMs);

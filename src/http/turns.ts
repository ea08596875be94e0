import { ServiceError } from '../errors.ts';

export interface TurnLimits {
  /** What may be taken at the same time in all. */
  readonly total: number;
  /** What one owner may have taken at the same time; no single taking is larger. */
  readonly perOwner: number;
  /** Milliseconds that anybody waits. */
  readonly waitMs: number;
}

/** A share of something that there is little of, handed out in turns. */
export interface Turns {
  /**
   * Waits until the owner may have the amount. Owners who wait are served one after the other, each its own
   * oldest wish first, so that nobody's many wishes stand before another's one.
   * @returns gives the amount back, once however often it is called
   * @throws {ServiceError} SERVICE_UNAVAILABLE when it took too long or too many of
   * the owner's wait already; whatever `signal` was aborted with
   */
  readonly take: (owner: string, amount: number, signal: AbortSignal) => Promise<() => void>;
}

/** Wishes of one owner that may wait; one more is refused at once. */
const MAX_WISHES = 32;

interface Wish {
  readonly amount: number;
  readonly grant: () => void;
}

const busy = (): ServiceError =>
  new ServiceError('SERVICE_UNAVAILABLE', 'Too many large bodies are at work already. Try again shortly.');

/** Nothing is taken at first. */
export function createTurns({ total, perOwner, waitMs }: TurnLimits): Turns {
  const taken = new Map<string, number>();
  /** In the order in which their owners are served next. */
  const waiting = new Map<string, Wish[]>();
  let free = total;

  const takenBy = (owner: string): number => taken.get(owner) ?? 0;
  const fits = (owner: string, amount: number): boolean => takenBy(owner) + amount <= perOwner;

  const book = (owner: string, amount: number): void => {
    free -= amount;
    const now = takenBy(owner) + amount;
    if (now === 0) taken.delete(owner);
    else taken.set(owner, now);
  };

  const forget = (owner: string, wish: Wish): void => {
    const left = (waiting.get(owner) ?? []).filter((other) => other !== wish);
    if (left.length === 0) waiting.delete(owner);
    else waiting.set(owner, left);
  };

  const goLast = (owner: string): void => {
    const wishes = waiting.get(owner);
    if (wishes === undefined) return;
    waiting.delete(owner);
    waiting.set(owner, wishes);
  };

  const serve = (): void => {
    for (const [owner, [wish]] of [...waiting]) {
      if (wish === undefined || !fits(owner, wish.amount)) continue;
      // Whose turn it is waits for room; smaller wishes behind it would take it away for ever.
      if (wish.amount > free) return;
      forget(owner, wish);
      goLast(owner);
      book(owner, wish.amount);
      wish.grant();
    }
  };

  const giver = (owner: string, amount: number): (() => void) => {
    let given = false;
    return () => {
      if (given) return;
      given = true;
      book(owner, -amount);
      // Others come before whoever has just had a turn.
      goLast(owner);
      serve();
    };
  };

  const wait = (owner: string, amount: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', leave);
      };
      const refuse = (reason: unknown): void => {
        end();
        forget(owner, wish);
        reject(reason);
        serve();
      };
      const leave = (): void => refuse(signal.reason);
      const wish: Wish = {
        amount,
        grant: () => {
          end();
          // Whoever else has something to do in this process goes first.
          setImmediate(resolve);
        },
      };
      const timer = setTimeout(() => refuse(busy()), waitMs);
      signal.addEventListener('abort', leave);
      waiting.set(owner, [...(waiting.get(owner) ?? []), wish]);
      serve();
    });

  return {
    take: async (owner, amount, signal) => {
      signal.throwIfAborted();
      if (waiting.size === 0 && amount <= free && fits(owner, amount)) book(owner, amount);
      else if ((waiting.get(owner)?.length ?? 0) >= MAX_WISHES) throw busy();
      else await wait(owner, amount, signal);
      return giver(owner, amount);
    },
  };
}

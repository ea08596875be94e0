import { ServiceError } from '../errors.ts';

/** A few of something, handed out so that no holder can have them all. */
export interface Shares {
  /**
   * Waits until the holder may have one more, `waitMs` milliseconds at most. Holders who wait are served one after the other, each its own oldest
   * wish first.
   * @returns how to give it back: to be called once
   * @throws {ServiceError} SERVICE_UNAVAILABLE when it took too long, or too many of the holder's wait already
   */
  readonly take: (holder: string, waitMs: number) => Promise<() => void>;
  /** Wishes that wait. */
  readonly waiting: () => number;
}

/** Wishes of one holder that may wait; one more is refused at once. */
const MOST_WISHES = 500;

interface Holder {
  held: number;
  /** Oldest first. */
  readonly wishes: (() => void)[];
}

const busy = (): ServiceError =>
  new ServiceError(
    'SERVICE_UNAVAILABLE',
    'Too many requests of this workspace use the database already. Try again shortly.',
  );

/**
 * A holder gets one more while it has fewer than are left: half of all when it is alone, a quarter beside one that has
 * that much, and so on. So there is something left for whoever comes next, without knowing how many they are.
 * @param capacity how many there are to hand out
 */
export function createShares(capacity: number): Shares {
  const holders = new Map<string, Holder>();
  /** Holders with wishes, in the order in which they are served next. */
  const queue = new Set<string>();
  let left = capacity;
  let waiting = 0;

  const mayHave = ({ held }: Holder): boolean => held < left;

  const giveBack = (name: string, holder: Holder): void => {
    left += 1;
    holder.held -= 1;
    if (holder.held === 0 && holder.wishes.length === 0) holders.delete(name);
    serve();
  };

  function serve(): void {
    for (const name of queue) {
      if (left === 0) return;
      const holder = holders.get(name);
      const wish = holder !== undefined && mayHave(holder) ? holder.wishes.shift() : undefined;
      if (holder === undefined || wish === undefined) continue;
      queue.delete(name);
      if (holder.wishes.length > 0) queue.add(name);
      left -= 1;
      holder.held += 1;
      wish();
    }
  }

  const wait = (name: string, holder: Holder, waitMs: number): Promise<void> =>
    new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        waiting -= 1;
      };
      const wish = () => {
        end();
        resolve();
      };
      const timer = setTimeout(() => {
        end();
        holder.wishes.splice(holder.wishes.indexOf(wish), 1);
        if (holder.wishes.length === 0) queue.delete(name);
        if (holder.held === 0 && holder.wishes.length === 0) holders.delete(name);
        reject(busy());
      }, waitMs);
      waiting += 1;
      holder.wishes.push(wish);
      queue.add(name);
    });

  return {
    async take(name, waitMs) {
      let holder = holders.get(name);
      if (holder === undefined) {
        holder = { held: 0, wishes: [] };
        holders.set(name, holder);
      }
      const taken = holder;
      if (taken.wishes.length === 0 && mayHave(taken)) {
        left -= 1;
        taken.held += 1;
      } else {
        if (taken.wishes.length >= MOST_WISHES) throw busy();
        await wait(name, taken, waitMs);
      }
      return () => giveBack(name, taken);
    },
    waiting: () => waiting,
  };
}

/** Shares a scarce resource (threads, connections, bytes of memory) fairly among owners. */

export interface FairQueueOptions {
  /** Units in all: threads, connections, bytes. */
  readonly total: number;
  /**
   * Units that one owner may hold, `total` at most; a larger claim is cut to this. With `half`, a claim is met while
   * the owner holds no more than is left afterwards: half of all when it is alone, a quarter beside an owner with a
   * half, and so on. So something is always left for the next owner.
   */
  readonly perOwner: number | 'half';
  /** Claims of one owner that may wait; a further one is refused at once. */
  readonly maxWaiting: number;
  /** The error of a claim that waited too long, or has too many before it. */
  readonly refusal: () => Error;
}

export interface Claim {
  /** Units, above 0; 1 by default. */
  readonly amount?: number;
  /** How long the claim may wait, in milliseconds. */
  readonly waitMs: number;
  /** Withdraws the claim while it waits. */
  readonly signal?: AbortSignal;
}

export interface FairQueue {
  /**
   * Waits until the claim is met. Waiting owners are served in turn, each its oldest claim first, so that the many
   * claims of one never delay another's only one.
   * @returns releases the units; idempotent
   * @throws the refusal of `FairQueueOptions`; the reason of `signal`
   */
  readonly take: (owner: string, claim: Claim) => Promise<() => void>;
  /** Number of waiting claims. */
  readonly waiting: () => number;
}

interface Waiter {
  readonly amount: number;
  readonly grant: () => void;
}

interface Owner {
  readonly name: string;
  held: number;
  /** Oldest first. */
  readonly waiters: Set<Waiter>;
}

export function createFairQueue({ total, perOwner, maxWaiting, refusal }: FairQueueOptions): FairQueue {
  const owners = new Map<string, Owner>();
  /** Waiting owners, in the order in which they are served. */
  const line = new Set<Owner>();
  let free = total;

  const mayHold = (units: number): boolean => units <= (perOwner === 'half' ? free : perOwner);

  /** Moves the owner to the end of the line, or out of it when nothing of it waits. */
  const goLast = (owner: Owner): void => {
    line.delete(owner);
    if (owner.waiters.size > 0) line.add(owner);
    else if (owner.held === 0) owners.delete(owner.name);
  };

  /** Skips owners at their limit, and ends when nothing is free: it checks few, however many wait. */
  const serve = (): void => {
    for (const owner of line) {
      const [next] = owner.waiters;
      if (free === 0 || next === undefined) return;
      if (!mayHold(owner.held + next.amount)) continue;
      // What is free is kept for the owner whose turn it is: smaller claims behind it could starve it.
      if (next.amount > free) return;
      free -= next.amount;
      owner.held += next.amount;
      owner.waiters.delete(next);
      goLast(owner);
      next.grant();
    }
  };

  const granted = (owner: Owner, amount: number, { waitMs, signal }: Claim): Promise<void> =>
    new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const stopWaiting = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
      };
      const leave = (reason: unknown): void => {
        stopWaiting();
        owner.waiters.delete(waiter);
        // An owner with other claims keeps its place.
        if (owner.waiters.size === 0) goLast(owner);
        reject(reason);
        serve();
      };
      const onAbort = (): void => leave(signal?.reason);
      const waiter: Waiter = {
        amount,
        grant: () => {
          stopWaiting();
          resolve();
        },
      };
      owner.waiters.add(waiter);
      line.add(owner);
      serve();
      if (!owner.waiters.has(waiter)) return;
      timer = setTimeout(() => leave(refusal()), waitMs);
      signal?.addEventListener('abort', onAbort);
    });

  return {
    take: async (name, claim) => {
      claim.signal?.throwIfAborted();
      const owner = owners.get(name) ?? { name, held: 0, waiters: new Set() };
      if (owner.waiters.size >= maxWaiting) throw refusal();
      owners.set(name, owner);
      const amount = Math.min(claim.amount ?? 1, perOwner === 'half' ? total : perOwner);
      await granted(owner, amount, claim);
      let released = false;
      return () => {
        if (released) return;
        released = true;
        free += amount;
        owner.held -= amount;
        // Others come before the owner that was just served.
        goLast(owner);
        serve();
      };
    },
    waiting: () => [...line].reduce((sum, { waiters }) => sum + waiters.size, 0),
  };
}

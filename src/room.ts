/** Accounts for memory in bytes, so that no owner can take what others need. */

export interface RoomOptions {
  /** Bytes in all. */
  readonly total: number;
  /** Bytes that one owner may hold; a larger claim is cut to this. */
  readonly perOwner: number;
  /** What a request may hold without a claim, in bytes: its connection's own part; 0 by default. */
  readonly unclaimed?: number;
  /** Claims that may wait, of one owner and in all; a further one is refused at once. */
  readonly maxWaiting: { readonly perOwner: number; readonly total: number };
  /** How long smaller claims may overtake one that waits, in milliseconds; 2 s by default. */
  readonly overtakeMs?: number;
  /** The error of a claim that waited too long, or has too many before it. */
  readonly refusal: () => Error;
}

export interface Waiting {
  /** How long the claim may wait, in milliseconds. */
  readonly waitMs: number;
  /** Withdraws the claim while it waits. */
  readonly signal?: AbortSignal | undefined;
}

/** What one request holds. */
export interface Holding {
  readonly bytes: () => number;
  /**
   * Claims this many bytes in all. Whoever has to wait gives back what it holds first, so that waiting claims never
   * block each other.
   * @throws the refusal of `RoomOptions`; the reason of `signal`
   */
  readonly take: (bytes: number, waiting: Waiting) => Promise<void>;
  /** Holds this many bytes from now on, `perOwner` at most, or returns false when there is no room for more. */
  readonly resize: (bytes: number) => boolean;
  /** Holds this many bytes, whether there is room or not: for what is committed. */
  readonly insist: (bytes: number) => void;
  readonly release: () => void;
}

export interface Room {
  readonly open: (owner: string) => Holding;
  readonly held: () => number;
  /** Number of waiting claims. */
  readonly waiting: () => number;
}

/** The part that smaller claims keep while room is kept for one that waits. */
const KEPT_FOR_SMALL = 1 / 16;
const OVERTAKE_MS = 2_000;

interface Owner {
  readonly name: string;
  held: number;
  /** Bytes granted while room was kept for another claim of this owner. */
  aside: number;
  waiting: number;
  open: number;
}

const NOBODY: Pick<Owner, 'held'> = { held: 0 };

/** How a claim was granted: beside one that room is kept for, in the whole room or within its owner's part. */
interface Grant {
  bytes: number;
  besideAll: boolean;
  besideOwn: boolean;
}

interface Waiter {
  readonly owner: Owner;
  readonly bytes: number;
  readonly since: number;
  readonly grant: (grant: Grant) => void;
}

/** Whom claims that have waited so long that what is freed is kept for them keep it from. */
interface Kept {
  fromAll: boolean;
  readonly fromOwners: Set<Owner>;
}

/**
 * A room of `total` bytes. An owner holds at most `perOwner`, and never more than is left free: half of all when it is
 * alone, less beside others. Claims are met in the order they came; smaller ones overtake one that does not fit for
 * `overtakeMs` at most. Then what is freed is kept for it, beyond a sixteenth.
 */
export function createRoom(options: RoomOptions): Room {
  const { total, perOwner, unclaimed = 0, maxWaiting, refusal, overtakeMs = OVERTAKE_MS } = options;
  const counted = (bytes: number): number => (bytes <= unclaimed ? 0 : bytes);
  const owners = new Map<string, Owner>();
  /** Oldest first. */
  const waiters = new Set<Waiter>();
  let free = total;
  let aside = 0;

  const change = (owner: Owner, grant: Grant, bytes: number): void => {
    const more = bytes - grant.bytes;
    grant.bytes = bytes;
    free -= more;
    owner.held += more;
    if (grant.besideAll) aside += more;
    if (grant.besideOwn) owner.aside += more;
  };
  const fits = (owner: Pick<Owner, 'held'>, more: number): boolean =>
    owner.held + more <= perOwner && owner.held + more <= free - more;

  /** The grant of a claim that fits, beside the older claims that room is kept for; null when it has to wait. */
  const grantFor = (owner: Owner, bytes: number, kept: Kept): Grant | null => {
    const besideOwn = kept.fromOwners.has(owner);
    if (!fits(owner, bytes)) return null;
    if (kept.fromAll && aside + bytes > total * KEPT_FOR_SMALL) return null;
    if (besideOwn && owner.aside + bytes > perOwner * KEPT_FOR_SMALL) return null;
    return { bytes: 0, besideAll: kept.fromAll, besideOwn };
  };

  /** Nothing that others give back helps an owner at its own limit, nor its claims behind that one. */
  const keepFor = ({ owner, bytes }: Waiter, kept: Kept): void => {
    if (kept.fromOwners.has(owner) || owner.held + bytes > perOwner) kept.fromOwners.add(owner);
    else kept.fromAll = true;
  };

  const overdue = (now: number): Kept => {
    const kept: Kept = { fromAll: false, fromOwners: new Set() };
    for (const waiter of waiters) {
      if (now - waiter.since < overtakeMs) break;
      keepFor(waiter, kept);
    }
    return kept;
  };

  const serve = (): void => {
    if (waiters.size === 0) return;
    const now = performance.now();
    const kept: Kept = { fromAll: false, fromOwners: new Set() };
    for (const waiter of waiters) {
      const grant = grantFor(waiter.owner, waiter.bytes, kept);
      if (grant === null) {
        if (now - waiter.since >= overtakeMs) keepFor(waiter, kept);
        continue;
      }
      waiters.delete(waiter);
      change(waiter.owner, grant, waiter.bytes);
      waiter.grant(grant);
    }
  };

  const wait = (owner: Owner, bytes: number, { waitMs, signal }: Waiting): Promise<Grant> => {
    if (owner.waiting >= maxWaiting.perOwner || waiters.size >= maxWaiting.total) throw refusal();
    signal?.throwIfAborted();
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        owner.waiting -= 1;
      };
      const leave = (reason: unknown): void => {
        stop();
        waiters.delete(waiter);
        reject(reason);
        serve();
      };
      const onAbort = (): void => leave(signal?.reason);
      const waiter: Waiter = {
        owner,
        bytes,
        since: performance.now(),
        grant: (grant) => {
          stop();
          resolve(grant);
        },
      };
      const timer = setTimeout(() => leave(refusal()), waitMs);
      signal?.addEventListener('abort', onAbort);
      owner.waiting += 1;
      waiters.add(waiter);
    });
  };

  const open = (name: string): Holding => {
    let owner: Owner | undefined;
    let grant: Grant = { bytes: 0, besideAll: false, besideOwn: false };
    const ownerNow = (): Owner => {
      if (owner !== undefined) return owner;
      owner = owners.get(name) ?? { name, held: 0, aside: 0, waiting: 0, open: 0 };
      owner.open += 1;
      owners.set(name, owner);
      return owner;
    };
    const release = (): void => {
      if (owner === undefined) return;
      change(owner, grant, 0);
      owner.open -= 1;
      if (owner.open === 0) owners.delete(name);
      owner = undefined;
      serve();
    };
    const set = (bytes: number): void => {
      if (bytes === 0) {
        release();
        return;
      }
      const more = bytes - grant.bytes;
      change(ownerNow(), grant, bytes);
      if (more < 0) serve();
    };
    const resize = (wanted: number): boolean => {
      const bytes = Math.min(counted(wanted), perOwner);
      const more = bytes - grant.bytes;
      if (more > 0 && !fits(owners.get(name) ?? NOBODY, more)) return false;
      set(bytes);
      return true;
    };
    return {
      bytes: () => grant.bytes,
      release,
      async take(wanted, waiting) {
        const bytes = Math.min(counted(wanted), perOwner);
        if (bytes > grant.bytes) release();
        else set(bytes);
        if (bytes <= grant.bytes) return;
        const of = ownerNow();
        try {
          const met = grantFor(of, bytes, overdue(performance.now()));
          if (met !== null) change(of, met, bytes);
          grant = met ?? (await wait(of, bytes, waiting));
        } catch (error) {
          release();
          throw error;
        }
      },
      resize,
      insist: (bytes) => set(counted(bytes)),
    };
  };
  return { open, held: () => total - free, waiting: () => waiters.size };
}

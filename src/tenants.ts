/** What this process does for each workspace, of the last minutes, in bounded memory: who makes the load. */

/** `workMilliseconds`: work on documents and JSON, on the event loop and on threads. `deliveries`: attempts. */
export const MEASURES = [
  'requests',
  'bytes',
  'workMilliseconds',
  'refusals',
  'tokens',
  'deliveries',
] as const;
export type Measure = (typeof MEASURES)[number];

/** A workspace's part; the true amount is `amount` or up to `error` more. */
export interface TenantAmount {
  readonly workspaceId: string;
  readonly amount: number;
  readonly error: number;
}

export interface TopTenants {
  /** How far back the amounts reach. */
  readonly seconds: number;
  /** The largest first. */
  readonly by: Readonly<Record<Measure, readonly TenantAmount[]>>;
}

export interface TenantFigures {
  /** Adds to a workspace's amount. Only what a recognised key or our own rows name is counted. */
  readonly count: (workspaceId: string, measure: Measure, amount: number) => void;
  readonly top: () => TopTenants;
}

/** Workspaces of each list. */
const LISTED = 20;
/** The last five minutes, in slices: the oldest is forgotten as a whole. */
const SLICE_MS = 30_000;
const SLICES = 10;
/**
 * Workspaces counted exactly in a slice. One more, and each loses what the one in the middle has, so that the smaller half goes:
 * whoever has more than a part in `KEPT` of all is always there (Misra and Gries).
 */
const COUNTED = 512;
const KEPT = COUNTED / 2;

interface Sketch {
  readonly amounts: Map<string, number>;
  /** The most that an amount may be too low by. */
  lost: number;
}

function add(sketch: Sketch, key: string, amount: number): void {
  const { amounts } = sketch;
  amounts.set(key, (amounts.get(key) ?? 0) + amount);
  if (amounts.size <= COUNTED) return;
  const middle = [...amounts.values()].sort((one, other) => other - one)[KEPT] ?? 0;
  sketch.lost += middle;
  for (const [each, had] of amounts) {
    if (had > middle) amounts.set(each, had - middle);
    else amounts.delete(each);
  }
}

/** The largest of several sketches together. */
function largestOf(sketches: readonly Sketch[]): TenantAmount[] {
  const sums = new Map<string, number>();
  for (const { amounts } of sketches) {
    for (const [key, amount] of amounts) sums.set(key, (sums.get(key) ?? 0) + amount);
  }
  const error = Math.ceil(sketches.reduce((sum, { lost }) => sum + lost, 0));
  return [...sums]
    .map(([workspaceId, amount]) => ({ workspaceId, amount: Math.round(amount), error }))
    .sort((one, other) => other.amount - one.amount || (one.workspaceId < other.workspaceId ? -1 : 1))
    .slice(0, LISTED);
}

/** @param now milliseconds of a steady clock */
export function createTenantFigures(now = () => performance.now()): TenantFigures {
  /** By the number of their slice; the newest last. */
  const slices = new Map<number, Readonly<Record<Measure, Sketch>>>();

  const present = (): number => Math.floor(now() / SLICE_MS);
  const forgetOld = (): void => {
    for (const number of slices.keys()) if (number <= present() - SLICES) slices.delete(number);
  };
  const sliceOf = (number: number): Readonly<Record<Measure, Sketch>> => {
    const known = slices.get(number);
    if (known !== undefined) return known;
    forgetOld();
    const made = Object.fromEntries(
      MEASURES.map((measure): [Measure, Sketch] => [measure, { amounts: new Map(), lost: 0 }]),
    ) as Record<Measure, Sketch>;
    slices.set(number, made);
    return made;
  };

  return {
    count(workspaceId, measure, amount) {
      if (workspaceId !== '' && amount > 0) add(sliceOf(present())[measure], workspaceId, amount);
    },
    top() {
      forgetOld();
      const kept = [...slices.values()];
      const by = MEASURES.map((measure) => [measure, largestOf(kept.map((slice) => slice[measure]))]);
      return {
        seconds: (SLICES * SLICE_MS) / 1_000,
        by: Object.fromEntries(by) as Record<Measure, TenantAmount[]>,
      };
    },
  };
}

/** Those of this process: whatever works for a workspace counts here, and the metrics port shows them at /top. */
export const tenants = createTenantFigures();

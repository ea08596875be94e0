/** Names that are remembered. */
const MAX_NAMES = 1_000;

/** What DNS said of a name, and for how long it says so, in milliseconds. */
export interface Named<Value> {
  readonly value: Value;
  readonly ttlMs: number;
}

/** Remembers what was looked up for as long as DNS says so, at most `maxMs`. */
export interface NameCache<Value> {
  /** Looks a name up, unless that is under way or its result is remembered. @param lookUp must not reject */
  resolve(name: string, lookUp: () => Promise<Named<Value>>): Promise<Value>;
}

export function createNameCache<Value>(maxMs: number): NameCache<Value> {
  const remembered = new Map<string, { readonly value: Promise<Value>; until: number }>();
  return {
    resolve(name, lookUp) {
      const known = remembered.get(name);
      if (known !== undefined && performance.now() < known.until) return known.value;
      remembered.delete(name);
      const [oldest] = remembered.keys();
      if (oldest !== undefined && remembered.size >= MAX_NAMES) remembered.delete(oldest);
      const entry = {
        until: Number.POSITIVE_INFINITY,
        value: lookUp().then(({ value, ttlMs }) => {
          entry.until = performance.now() + Math.min(maxMs, ttlMs);
          return value;
        }),
      };
      remembered.set(name, entry);
      return entry.value;
    },
  };
}

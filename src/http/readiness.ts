import { setTimeout as sleep } from 'node:timers/promises';

export type DependencyState = 'ok' | 'unavailable';

export interface Readiness {
  readonly ready: boolean;
  /** State of each dependency by name. The reason is in the log, not in the response. */
  readonly checks: Readonly<Record<string, DependencyState>>;
}

export interface Dependency {
  /** Resolves when the dependency is usable. */
  readonly check: () => Promise<void>;
  /** Whether the process is useless without it; otherwise its state is only reported. */
  readonly needed: boolean;
}

/** How long a result is reused, in milliseconds. */
const MAX_AGE_MS = 1_000;
/** A dependency that takes longer counts as unusable, in milliseconds. */
const DEADLINE_MS = 2_000;

/** @returns a function that checks all dependencies at once, or returns a recent result */
export function createReadiness(
  dependencies: Readonly<Record<string, Dependency>>,
): () => Promise<Readiness> {
  let latest: { readonly at: number; readonly result: Promise<Readiness> } | undefined;
  let isChecking = false;
  return () => {
    const now = performance.now();
    if (latest !== undefined && (isChecking || now - latest.at < MAX_AGE_MS)) return latest.result;
    isChecking = true;
    const result = checkAll(dependencies).finally(() => {
      isChecking = false;
    });
    latest = { at: now, result };
    return result;
  };
}

async function checkAll(dependencies: Readonly<Record<string, Dependency>>): Promise<Readiness> {
  const patience = new AbortController();
  const late = sleep(DEADLINE_MS, 'unavailable' as const, { signal: patience.signal, ref: false });
  late.catch(() => undefined);
  const stateOf = ({ check }: Dependency): Promise<DependencyState> =>
    Promise.race([
      check().then(
        () => 'ok' as const,
        () => 'unavailable' as const,
      ),
      late,
    ]);
  const states = await Promise.all(
    Object.entries(dependencies).map(
      async ([name, dependency]) => [name, await stateOf(dependency), dependency.needed] as const,
    ),
  );
  patience.abort();
  return {
    ready: states.every(([, state, needed]) => state === 'ok' || !needed),
    checks: Object.fromEntries(states),
  };
}

import { setTimeout as sleep } from 'node:timers/promises';

export interface Readiness {
  readonly ready: boolean;
  /** Each part by name. Why one is not usable is for the log of that part, not for the world. */
  readonly checks: Readonly<Record<string, 'ok' | 'unavailable'>>;
}

/** Asks every part at once; one that has not answered within `timeoutMs` is not usable. */
export async function checkReadiness(
  checks: Readonly<Record<string, () => Promise<void>>>,
  timeoutMs: number = 2_000,
): Promise<Readiness> {
  const abort = new AbortController();
  const late = sleep(timeoutMs, 'unavailable' as const, { signal: abort.signal, ref: false });
  late.catch(() => undefined);
  const ask = async (check: () => Promise<void>): Promise<'ok' | 'unavailable'> => {
    try {
      await check();
      return 'ok';
    } catch {
      return 'unavailable';
    }
  };
  const entries = await Promise.all(
    Object.entries(checks).map(
      async ([name, check]) => [name, await Promise.race([ask(check), late])] as const,
    ),
  );
  abort.abort();
  return { ready: entries.every(([, state]) => state === 'ok'), checks: Object.fromEntries(entries) };
}

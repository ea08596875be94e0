import { setTimeout as sleep } from 'node:timers/promises';

/** Asks until the answer is usable. @throws when it is not within `timeoutMs`, telling the last answer */
export async function eventually<Value>(
  ask: () => Promise<Value>,
  usable: (value: Value) => boolean,
  timeoutMs = 60_000,
): Promise<Value> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const value = await ask();
    if (usable(value)) return value;
    if (Date.now() > deadline) throw new Error(`not within ${timeoutMs} ms: ${JSON.stringify(value)}`);
    await sleep(50);
  }
}

/**
 * Requests /healthz and a light route of another tenant twenty times a second each, until its input ends, and writes the
 * figures as JSON. A process of its own, so that the load does not distort its times.
 *
 *     node observer.ts <url> <key> <path>
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from './client.ts';

const EVERY_MS = 50;

const [url = '', key = '', path = ''] = process.argv.slice(2);
const client = createClient(url, key, 64);
const seen = { milliseconds: [] as number[], failures: [] as string[] };
const open = new Set<Promise<void>>();
let done = false;
process.stdin.on('end', () => {
  done = true;
});
process.stdin.resume();

async function ask(target: string): Promise<void> {
  try {
    const { status, milliseconds } = await client.send({ method: 'GET', path: target });
    seen.milliseconds.push(milliseconds);
    if (status !== 200) seen.failures.push(`${target}: ${status}`);
  } catch (error) {
    seen.failures.push(`${target}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

while (!done) {
  for (const target of ['/healthz', path]) {
    const asked: Promise<void> = ask(target).finally(() => open.delete(asked));
    open.add(asked);
  }
  await sleep(EVERY_MS);
}
await Promise.all(open);
client.close();
process.stdout.write(JSON.stringify(seen));

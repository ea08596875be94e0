/** Tries a lock file once: `node lock-holder.ts <path> <at>`, at a moment in Unix milliseconds; prints the outcome. */
import { setTimeout as sleep } from 'node:timers/promises';
import { tryLock } from '../../src/local/lock.ts';

const [path = '', at = '0'] = process.argv.slice(2);
await sleep(Math.max(0, Number(at) - Date.now()));
const attempt = tryLock(path, 'test');
process.stdout.write('lock' in attempt ? 'won\n' : 'lost\n');
// Until it is killed: held while the others try, never released, so that each round leaves a dead holder behind.
setInterval(() => undefined, 60_000);

/**
 * A process that owns a stack, for tests to stop and to kill: `node owner.ts <dataDir>`. Writes one line of JSON when
 * the stack is up, ends it on SIGTERM, and exits with status 1 and the message on stderr when it cannot start.
 */
import { startStack } from '../../src/local/stack.ts';

try {
  const { DATABASE_URL: _, TEMPORAL_ADDRESS: __, ...env } = process.env;
  const { stop, ...stack } = await startStack({ dataDir: process.argv[2] ?? '', env });
  const idle = setInterval(() => undefined, 60_000);
  process.once('SIGTERM', () => void stop().then(() => clearInterval(idle)));
  process.stdout.write(`${JSON.stringify(stack)}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? `${error.name}: ${error.message}` : error}\n`);
  process.exitCode = 1;
}

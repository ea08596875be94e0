/** `npm run demo`: one real article on its whole way through the service; `-- --exit` ends when it is over. */
import { parseArgs } from 'node:util';
import { Listr } from 'listr2';
import { print, runLocally } from '../../src/local/run-locally.ts';
import { untilAborted } from '../../src/local/service.ts';
import { accepts } from '../../src/ports.ts';
import { startReceiver } from './receiver.ts';
import { report } from './report.ts';
import { createSteps, type Findings } from './steps.ts';

const DEFAULT_PORT = 3_000;
const exit = readArguments();
if (process.env.DATABASE_URL || process.env.TEMPORAL_ADDRESS) {
  print('DATABASE_URL and TEMPORAL_ADDRESS are left alone: the demo has engines of its own.');
}

await runLocally({
  name: 'demo',
  env: await demoEnvironment(process.env),
  async use(service, signal) {
    const receiver = await startReceiver();
    print('');
    try {
      const tasks = new Listr<Findings>(createSteps(service, receiver), {
        // Ctrl-C is handled for the whole process, which has engines to stop.
        registerSignalListeners: false,
      });
      // Filled step by step.
      report(service, await tasks.run({ generation: {} } as Findings), { exit });
      if (exit) return;
      print('');
      print('Everything stays up until Ctrl-C; `npm start` has the same data afterwards.');
      receiver.onReceived = (line) => print(`webhook: ${line}`);
      await untilAborted(signal);
    } finally {
      await receiver.close();
    }
  },
});

/** @returns true when everything is to be stopped at the end */
function readArguments(): boolean {
  try {
    return parseArgs({ options: { exit: { type: 'boolean' } } }).values.exit === true;
  } catch {
    process.stderr.write('Usage: npm run demo [-- --exit]\n');
    process.exit(1);
  }
}

/**
 * The environment of `npm start`, but for four things: the engines are always our own, so that no other database gets
 * demo data; no model is called; articles are researched, in pages that ship with the service; and webhooks may go to this
 * machine, where the receiver is.
 */
async function demoEnvironment(env: NodeJS.ProcessEnv): Promise<NodeJS.ProcessEnv> {
  const { DATABASE_URL: _database, TEMPORAL_ADDRESS: _temporal, ...rest } = env;
  const networks = [env.WEBHOOK_ALLOWED_NETWORKS, '127.0.0.1/32'].filter(Boolean).join(',');
  const port = (await accepts(DEFAULT_PORT)) ? '0' : String(DEFAULT_PORT);
  return {
    ...rest,
    PORT: env.PORT || port,
    LOG_LEVEL: env.LOG_LEVEL || 'warn',
    TRANSLATION_PROVIDER: 'pseudo',
    GENERATION_PROVIDER: 'pseudo',
    SEARCH_PROVIDER: 'pseudo',
    WEB_RESEARCH: 'true',
    FACT_CHECKING: 'true',
    IMAGE_PROVIDER: 'pseudo',
    WEBHOOK_ALLOWED_NETWORKS: networks,
  };
}

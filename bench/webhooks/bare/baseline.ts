import { type ChildProcess, fork } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { type Engines, temporaryFolder } from '../../../soak/support/engines.ts';
import { type BareResult, runBare } from './client.ts';
import type { BareAnswer, BareRequest } from './worker.ts';

export interface Baseline {
  /** Bare runs started by a plain client of this process. */
  plain(count: number, concurrency: number): Promise<BareResult>;
  /** Bare runs started eagerly by a client on the worker's own connection. */
  eager(count: number, concurrency: number): Promise<BareResult>;
  /** The same, each after an INSERT and a claim of a row in Postgres. */
  stored(count: number, concurrency: number): Promise<BareResult>;
  stop(): Promise<void>;
}

const TASK_QUEUE = 'bare';

/** Starts the baseline's worker as a process of its own, as the service's worker is. */
export async function startBaseline(
  engines: Pick<Engines, 'temporalAddress' | 'databaseUrl'>,
): Promise<Baseline> {
  const folder = temporaryFolder();
  const bundle = join(folder.path, 'bare.cjs');
  const { code } = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('./workflow.ts', import.meta.url)),
    logger: new DefaultLogger('WARN'),
  });
  await writeFile(bundle, code);
  const worker = fork(fileURLToPath(new URL('./worker.ts', import.meta.url)), {
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      TEMPORAL_ADDRESS: engines.temporalAddress,
      DATABASE_URL: engines.databaseUrl,
      BARE_BUNDLE: bundle,
      BARE_TASK_QUEUE: TASK_QUEUE,
    },
  });
  await new Promise<void>((resolve, reject) => {
    worker.once('message', () => resolve());
    worker.once('exit', (code) => reject(new Error(`the baseline's worker ended with ${code}`)));
  });
  const connection = await Connection.connect({ address: engines.temporalAddress });
  const client = new Client({ connection });
  let requests = 0;
  const start = (request: Omit<BareRequest, 'id'>) => {
    requests += 1;
    return ask(worker, { id: requests, ...request });
  };
  return {
    plain: (count, concurrency) =>
      runBare(client, { taskQueue: TASK_QUEUE, count, concurrency, eager: false }),
    eager: (count, concurrency) => start({ count, concurrency, stored: false }),
    stored: (count, concurrency) => start({ count, concurrency, stored: true }),
    async stop() {
      const ended = new Promise((resolve) => worker.once('exit', resolve));
      worker.disconnect();
      await Promise.all([ended, connection.close()]);
      folder.remove();
    },
  };
}

function ask(worker: ChildProcess, request: BareRequest): Promise<BareAnswer> {
  return new Promise((resolve) => {
    const onMessage = (answer: BareAnswer) => {
      if (answer.id !== request.id) return;
      worker.off('message', onMessage);
      resolve(answer);
    };
    worker.on('message', onMessage);
    worker.send(request);
  });
}

import { type ChildProcess, fork } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { type Engines, temporaryFolder } from '../../../soak/support/engines.ts';
import type { BareReply, BareRequest } from './worker.ts';

/** Bare runs, each started eagerly by a client on the worker's own connection. */
export interface Baseline {
  /** @returns milliseconds from the start to the activity */
  eager(): Promise<number>;
  /** The same after an INSERT and a claim of a row in Postgres, and from the beginning of these. */
  stored(): Promise<number>;
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
  let requests = 0;
  const start = async (stored: boolean) => {
    requests += 1;
    return (await send(worker, { id: requests, stored })).reachedAfterMs;
  };
  return {
    eager: () => start(false),
    stored: () => start(true),
    async stop() {
      const ended = new Promise((resolve) => worker.once('exit', resolve));
      worker.disconnect();
      await ended;
      folder.remove();
    },
  };
}

function send(worker: ChildProcess, request: BareRequest): Promise<BareReply> {
  return new Promise((resolve) => {
    const onMessage = (reply: BareReply) => {
      if (reply.id !== request.id) return;
      worker.off('message', onMessage);
      resolve(reply);
    };
    worker.on('message', onMessage);
    worker.send(request);
  });
}

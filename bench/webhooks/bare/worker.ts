/**
 * The baseline's process: a worker for the bare workflow, and, told so by messages, a client on the worker's own
 * connection, which is what eager starts need. Environment: TEMPORAL_ADDRESS, BARE_BUNDLE, BARE_TASK_QUEUE.
 */
import { Client } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { createLogger } from '../../../src/logger.ts';
import { installRuntime } from '../../../src/temporal/runtime.ts';
import { runBare } from './client.ts';

export type BareActivities = typeof activities;

/** What the parent asks for, and what it is answered. */
export type BareRequest = { readonly id: number; readonly count: number; readonly concurrency: number };
export type BareAnswer = { readonly id: number; readonly reachedAfterMs: number[]; readonly tookMs: number };

const activities = { touch: async (): Promise<number> => Date.now() };

const {
  TEMPORAL_ADDRESS: address = '',
  BARE_BUNDLE: codePath = '',
  BARE_TASK_QUEUE: taskQueue = '',
} = process.env;
installRuntime(createLogger('warn', 'bare'));
const connection = await NativeConnection.connect({ address });
const client = new Client({ connection });
const worker = await Worker.create({
  connection,
  taskQueue,
  workflowBundle: { codePath },
  activities,
  maxCachedWorkflows: 500,
  maxConcurrentActivityTaskExecutions: 1_000,
});
process.on('message', async ({ id, count, concurrency }: BareRequest) => {
  const result = await runBare(client, { taskQueue, count, concurrency, eager: true });
  process.send?.({ id, ...result } satisfies BareAnswer);
});
process.on('disconnect', () => worker.shutdown());
const running = worker.run();
process.send?.('ready');
await running;
await connection.close();

/**
 * The baseline's process: a worker for the bare workflow, and a client on the worker's own connection, as eager starts
 * need, which messages control. Environment: TEMPORAL_ADDRESS, DATABASE_URL, BARE_BUNDLE, BARE_TASK_QUEUE.
 */
import { randomUUID } from 'node:crypto';
import { Client } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import pg from 'pg';
import { loadConfig } from '../../../src/config.ts';
import { createLogger } from '../../../src/logger.ts';
import { installRuntime } from '../../../src/temporal/runtime.ts';
import { workerTuning } from '../../../src/temporal/tuning.ts';
import type { bare } from './workflow.ts';

export type BareActivities = typeof activities;

/** A message of the parent; {@link BareReply} is the reply. */
export interface BareRequest {
  readonly id: number;
  /** Whether a row is stored and claimed before the start. */
  readonly stored: boolean;
}
export interface BareReply {
  readonly id: number;
  /** Milliseconds from the work before the start to the activity. */
  readonly reachedAfterMs: number;
}

const activities = { touch: async (): Promise<number> => performance.now() };

const {
  TEMPORAL_ADDRESS: address = '',
  DATABASE_URL = '',
  BARE_BUNDLE: codePath = '',
  BARE_TASK_QUEUE: taskQueue = '',
} = process.env;
installRuntime(createLogger('warn', 'bare'));
const tuning = workerTuning(loadConfig());
const connection = await NativeConnection.connect({ address });
const client = new Client({ connection });
const worker = await Worker.create({
  connection,
  taskQueue,
  workflowBundle: { codePath },
  activities,
  ...tuning.pollers,
  ...tuning.webhooks,
});
const database = new pg.Pool({ connectionString: DATABASE_URL, max: 4 });
await database.query(
  'CREATE TABLE IF NOT EXISTS bare_rows (id bigserial PRIMARY KEY, claimed boolean NOT NULL)',
);

/** What is stored and claimed before a run is started, each of them durably. */
async function storeAndClaim(): Promise<void> {
  const { rows } = await database.query({
    name: 'store',
    text: 'INSERT INTO bare_rows (claimed) VALUES (false) RETURNING id',
  });
  await database.query({
    name: 'claim',
    text: 'UPDATE bare_rows SET claimed = true WHERE id = $1',
    values: [rows[0].id],
  });
}

process.on('message', async ({ id, stored }: BareRequest) => {
  const calledAt = performance.now();
  if (stored) await storeAndClaim();
  const reachedAt = await client.workflow.execute<typeof bare>('bare' as unknown as typeof bare, {
    taskQueue,
    workflowId: `bare-${randomUUID()}`,
    args: [],
    requestEagerStart: true,
  });
  process.send?.({ id, reachedAfterMs: reachedAt - calledAt } satisfies BareReply);
});
process.on('disconnect', () => worker.shutdown());
const running = worker.run();
process.send?.('ready');
await running;
await database.end();
await connection.close();

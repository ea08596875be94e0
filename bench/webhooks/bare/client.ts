import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import type { bare } from './workflow.ts';

export interface BareRun {
  readonly taskQueue: string;
  readonly count: number;
  /** Runs in flight at once. */
  readonly concurrency: number;
  readonly eager: boolean;
  /** Done before each start, and counted. */
  readonly before?: () => Promise<void>;
}

export interface BareResult {
  /** For each run, milliseconds from what is done before the start to the activity. */
  readonly reachedAfterMs: number[];
  /** Milliseconds from the first start to the last result. */
  readonly tookMs: number;
}

/** Starts bare runs and awaits their results. */
export async function runBare(client: Client, options: BareRun): Promise<BareResult> {
  const { taskQueue, count, concurrency, eager, before } = options;
  const reachedAfterMs: number[] = [];
  let left = count;
  const lane = async () => {
    while (left > 0) {
      left -= 1;
      const calledAt = Date.now();
      await before?.();
      const reachedAt = await client.workflow.execute<typeof bare>('bare' as unknown as typeof bare, {
        taskQueue,
        workflowId: `bare-${randomUUID()}`,
        args: [],
        ...(eager ? { requestEagerStart: true } : {}),
      });
      reachedAfterMs.push(reachedAt - calledAt);
    }
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: concurrency }, lane));
  return { reachedAfterMs, tookMs: performance.now() - startedAt };
}

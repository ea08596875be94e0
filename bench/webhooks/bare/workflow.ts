import { proxyActivities } from '@temporalio/workflow';
import type { BareActivities } from './worker.ts';

const { touch } = proxyActivities<BareActivities>({
  startToCloseTimeout: '1 minute',
  retry: { maximumAttempts: 1 },
});

/** The minimum of a delivery: one run with one activity, which returns the time it started at. */
export async function bare(): Promise<number> {
  return touch();
}

import { proxyActivities } from '@temporalio/workflow';
import type { BareActivities } from './worker.ts';

const { touch } = proxyActivities<BareActivities>({
  startToCloseTimeout: '1 minute',
  retry: { maximumAttempts: 1 },
});

/** The least a delivery could be: one run with one activity, which answers the time it was reached at. */
export async function bare(): Promise<number> {
  return touch();
}

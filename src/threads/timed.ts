import { tenants } from '../tenants.ts';
import { currentShare } from './share.ts';

/** Counts the time of synchronous work as a workspace's. */
export function timedFor<Result>(workspaceId: string, work: () => Result): Result {
  const began = performance.now();
  try {
    return work();
  } finally {
    tenants.count(workspaceId, 'workMilliseconds', performance.now() - began);
  }
}

/** `timedFor` the workspace that the present work belongs to. */
export const timed = <Result>(work: () => Result): Result => timedFor(currentShare().of, work);

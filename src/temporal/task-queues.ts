/** Task queues and schedules of one deployment. */
export interface TaskQueues {
  readonly translation: string;
  readonly webhooks: string;
  readonly bursts: string;
  readonly ai: string;
  readonly maintenance: string;
  readonly reconcileSchedule: string;
  readonly pruneSchedule: string;
}

/** A prefix keeps two deployments apart that share a namespace. */
export const taskQueues = (prefix = ''): TaskQueues => ({
  translation: `${prefix}translation`,
  webhooks: `${prefix}webhooks`,
  bursts: `${prefix}webhook-bursts`,
  ai: `${prefix}ai`,
  maintenance: `${prefix}maintenance`,
  reconcileSchedule: `${prefix}reconcile`,
  pruneSchedule: `${prefix}prune`,
});

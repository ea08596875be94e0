/** Task queues and schedules of one deployment. */
export interface TaskQueues {
  readonly translation: string;
  /** Steps of paid jobs on Postgres. */
  readonly jobSteps: string;
  /** Calls of engines and models for paid jobs. */
  readonly engineCalls: string;
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
  jobSteps: `${prefix}job-steps`,
  engineCalls: `${prefix}engine-calls`,
  webhooks: `${prefix}webhooks`,
  bursts: `${prefix}webhook-bursts`,
  ai: `${prefix}ai`,
  maintenance: `${prefix}maintenance`,
  reconcileSchedule: `${prefix}reconcile`,
  pruneSchedule: `${prefix}prune`,
});

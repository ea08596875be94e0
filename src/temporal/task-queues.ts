/** What is reconciled apart from the rest, each on a schedule of its own: none waits for another. */
export const RECONCILED = ['jobs', 'holds', 'deliveries', 'deleted'] as const;
export type Reconciled = (typeof RECONCILED)[number];

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
  readonly reconcileSchedules: Readonly<Record<Reconciled, string>>;
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
  reconcileSchedules: {
    jobs: `${prefix}reconcile-jobs`,
    holds: `${prefix}reconcile-holds`,
    deliveries: `${prefix}reconcile-deliveries`,
    deleted: `${prefix}reconcile-deleted`,
  },
  pruneSchedule: `${prefix}prune`,
});

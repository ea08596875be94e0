import type { WorkerOptions } from '@temporalio/worker';
import type { Config } from '../config.ts';

type Slots = Pick<WorkerOptions, 'maxConcurrentActivityTaskExecutions'>;
type Cache = Pick<WorkerOptions, 'maxCachedWorkflows'>;

export interface WorkerTuning {
  /** Of each task queue. */
  readonly pollers: Pick<WorkerOptions, 'workflowTaskPollerBehavior' | 'activityTaskPollerBehavior'>;
  readonly translation: Cache;
  readonly engineCalls: Slots;
  readonly webhooks: Slots & Cache & Pick<WorkerOptions, 'maxEagerActivityReservationsPerWorkflowTask'>;
}

/**
 * What an operator may set of the workers. Runs and activities with volume have caches and slots of their own: a webhook
 * attempt only waits, so that its slot costs a socket, while a batch of a translation costs a request to the engine.
 */
export function workerTuning(
  config: Pick<
    Config,
    | 'WORKER_POLLERS'
    | 'WEBHOOK_ACTIVITY_SLOTS'
    | 'WEBHOOK_CACHED_WORKFLOWS'
    | 'TRANSLATION_ACTIVITY_SLOTS'
    | 'TRANSLATION_CACHED_WORKFLOWS'
  >,
): WorkerTuning {
  const { WORKER_POLLERS: polls } = config;
  const behavior =
    polls === 'auto'
      ? ({ type: 'autoscaling' } as const)
      : ({ type: 'simple-maximum', maximum: polls } as const);
  return {
    pollers: { workflowTaskPollerBehavior: behavior, activityTaskPollerBehavior: behavior },
    translation: { maxCachedWorkflows: config.TRANSLATION_CACHED_WORKFLOWS },
    engineCalls: { maxConcurrentActivityTaskExecutions: config.TRANSLATION_ACTIVITY_SLOTS },
    webhooks: {
      maxConcurrentActivityTaskExecutions: config.WEBHOOK_ACTIVITY_SLOTS,
      maxCachedWorkflows: config.WEBHOOK_CACHED_WORKFLOWS,
      // A busy server can lose an activity that it hands out eagerly: that would spend an attempt without a send.
      maxEagerActivityReservationsPerWorkflowTask: 0,
    },
  };
}

import { PART_MS } from '../generation/call-limits.ts';
import type { Readiness } from '../http/readiness.ts';

/** Milliseconds without a poll. A poll that finds nothing ends after one minute, and the next one begins. */
const LONGEST_WITHOUT_POLL_MS = 300_000;
/** The same while no slot is free: longer than any activity holds one. */
const LONGEST_WITHOUT_SLOT_MS = PART_MS + 300_000;

const WORKFLOWS = {
  operation: 'PollWorkflowTaskQueue',
  slots: 'WorkflowWorker',
  what: 'workflow tasks',
} as const;
const ACTIVITIES = {
  operation: 'PollActivityTaskQueue',
  slots: 'ActivityWorker',
  what: 'activities',
} as const;

/** The value of the series with all of these labels; undefined when there is none. */
function sampleOf(exposition: string, name: string, ...labels: readonly string[]): number | undefined {
  const line = exposition
    .split('\n')
    .find((text) => text.startsWith(`${name}{`) && labels.every((label) => text.includes(label)));
  return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ') + 1));
}

export interface PollWatch {
  /** Task queues that this process polls for workflow tasks. */
  readonly workflowQueues: readonly string[];
  /** Task queues that it polls for activities. */
  readonly activityQueues: readonly string[];
  /** The SDK's series as Prometheus text; ignored when empty. */
  readonly read: () => Promise<string>;
  readonly readiness: () => Promise<Readiness>;
  /** Milliseconds with and without a free slot; for tests. */
  readonly limits?: { readonly free: number; readonly full: number };
}

/**
 * Reports a worker that no longer polls Temporal although Temporal and Postgres respond: its pollers are stuck, or all
 * its slots are held by work that does not end. An idle worker polls all the time.
 */
export function watchPolls({
  workflowQueues,
  activityQueues,
  read,
  readiness,
  limits,
}: PollWatch): () => Promise<string | null> {
  const { free = LONGEST_WITHOUT_POLL_MS, full = LONGEST_WITHOUT_SLOT_MS } = limits ?? {};
  const polled = [
    ...workflowQueues.map((queue) => ({ queue, ...WORKFLOWS })),
    ...activityQueues.map((queue) => ({ queue, ...ACTIVITIES })),
  ];
  const seen = new Map<string, { polls: number; at: number }>();
  return async () => {
    const [{ checks }, exposition] = await Promise.all([readiness(), read()]);
    if (exposition === '' || Object.values(checks).some((check) => check !== 'ok')) {
      seen.clear();
      return null;
    }
    const now = performance.now();
    const still: string[] = [];
    for (const { queue, operation, slots, what } of polled) {
      const polls = sampleOf(exposition, 'temporal_long_request_total', `"${operation}"`, `"${queue}"`) ?? 0;
      const key = `${operation} ${queue}`;
      const last = seen.get(key);
      if (last === undefined || last.polls !== polls) {
        seen.set(key, { polls, at: now });
        continue;
      }
      const left = sampleOf(exposition, 'temporal_worker_task_slots_available', `"${slots}"`, `"${queue}"`);
      if (now - last.at > (left === 0 ? full : free)) {
        still.push(
          `${queue} has not been polled for ${what} for ${Math.round((now - last.at) / 1_000)} seconds`,
        );
      }
    }
    return still[0] ?? null;
  };
}

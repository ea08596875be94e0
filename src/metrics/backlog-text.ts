import { Gauge, Registry } from 'prom-client';
import type { HoldPurpose } from '../credits/holds.ts';
import type { Backlog } from './backlog.ts';

const PURPOSES = ['translation', 'ai_operation'] as const satisfies readonly HoldPurpose[];
/** States that open jobs of this version are in: their series are there before the first job is. */
const OPEN_STATES = ['QUEUED', 'TRANSLATING'] as const;

/**
 * A backlog as Prometheus text.
 * @param readAt when it was read
 */
export function renderBacklog(backlog: Backlog, readAt: Date): Promise<string> {
  const registry = new Registry();
  const gauge = <Label extends string = never>(
    name: string,
    help: string,
    ...labelNames: Label[]
  ): Gauge<Label> => new Gauge({ name, help, labelNames, registers: [registry] });

  const { outbox, handedOver, holds, jobs } = backlog;
  const open = gauge('webhook_deliveries_open', 'Deliveries that have not ended, by stage.', 'stage');
  open.set({ stage: 'outbox' }, outbox.fresh);
  open.set({ stage: 'outbox_retry' }, outbox.retries);
  open.set({ stage: 'first_attempt' }, handedOver.firstAttempts);
  open.set({ stage: 'retry' }, handedOver.retries);
  gauge(
    'webhook_outbox_oldest_age_seconds',
    'How long the oldest delivery not yet handed to Temporal has been due.',
  ).set(outbox.oldestAge);
  gauge('webhook_retry_oldest_overdue_seconds', 'How long the most overdue retry has been due.').set(
    handedOver.oldestOverdue,
  );

  const held = gauge('credit_holds_open', 'Holds that are neither settled nor released.', 'purpose');
  const credits = gauge('credit_holds_open_credits', 'Credits held by open holds.', 'purpose');
  const heldFor = gauge('credit_holds_oldest_age_seconds', 'Age of the oldest open hold.', 'purpose');
  for (const purpose of PURPOSES) {
    const found = holds.find((hold) => hold.purpose === purpose);
    held.set({ purpose }, found?.count ?? 0);
    credits.set({ purpose }, found?.credits ?? 0);
    heldFor.set({ purpose }, found?.oldestAge ?? 0);
  }

  const jobsOpen = gauge('jobs_open', 'Jobs that have not ended, by status.', 'kind', 'status');
  const oldestJob = gauge('jobs_oldest_age_seconds', 'Age of the oldest job that has not ended.', 'kind');
  for (const status of OPEN_STATES) jobsOpen.set({ kind: 'translation', status }, 0);
  const ages = new Map([['translation', 0]]);
  for (const { kind, status, count, oldestAge } of jobs) {
    jobsOpen.set({ kind, status }, count);
    ages.set(kind, Math.max(ages.get(kind) ?? 0, oldestAge));
  }
  for (const [kind, age] of ages) oldestJob.set({ kind }, age);

  gauge('database_metrics_read_timestamp_seconds', 'When these figures were read, as Unix time.').set(
    readAt.getTime() / 1_000,
  );
  return registry.metrics();
}

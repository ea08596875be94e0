import type { Dashboard } from './grafana.ts';

const DELAY = 'webhook_first_attempt_delay_seconds_bucket';
const LAG = 'event_log_lag_seconds_bucket';
const quantile = (part: number, bucket: string) =>
  `histogram_quantile(${part}, sum by (le) (rate(${bucket}[$__rate_interval])))`;

export const DELIVERIES: Dashboard = {
  uid: 'content-service-deliveries',
  title: 'deliveries',
  panels: [
    {
      title: 'Attempts by outcome',
      unit: 'ops',
      queries: [
        ['sum by (outcome) (rate(webhook_delivery_attempts_total[$__rate_interval]))', '{{outcome}}'],
      ],
    },
    {
      title: 'Deliveries that ended',
      unit: 'ops',
      queries: [['sum by (outcome) (rate(webhook_deliveries_ended_total[$__rate_interval]))', '{{outcome}}']],
    },
    {
      title: 'Open deliveries',
      unit: 'short',
      queries: [['max by (stage) (webhook_deliveries_open)', '{{stage}}']],
      description: 'Counted up to 10,000. Whose they are: admin queue.',
    },
    {
      title: 'Oldest that waits',
      unit: 's',
      queries: [
        ['max(webhook_outbox_oldest_age_seconds)', 'due and not claimed'],
        ['max(webhook_retry_oldest_overdue_seconds)', 'retry overdue'],
      ],
    },
    {
      title: 'From the event to its first attempt',
      unit: 's',
      queries: [
        [quantile(0.5, DELAY), 'median'],
        [quantile(0.95, DELAY), '95 %'],
      ],
    },
    {
      title: 'Receivers that ask for fewer requests',
      unit: 'ops',
      queries: [
        ['sum(rate(webhook_requests_refused_total[$__rate_interval]))', '429, or 503 with Retry-After'],
      ],
    },
    {
      title: 'Endpoints',
      unit: 'short',
      queries: [
        ['max(webhook_endpoints_held)', 'held: secret not readable'],
        ['sum(increase(webhook_endpoints_disabled_total[1d]))', 'disabled within a day'],
      ],
    },
    {
      title: 'Events given numbers',
      unit: 'ops',
      queries: [['sum(rate(events_numbered_total[$__rate_interval]))', 'events']],
    },
    {
      title: 'From the event to its number in the log',
      unit: 's',
      queries: [
        [quantile(0.5, LAG), 'median'],
        [quantile(0.95, LAG), '95 %'],
        ['max(event_queue_oldest_age_seconds)', 'oldest without one'],
      ],
    },
    {
      title: 'Events without a number',
      unit: 'short',
      queries: [['max(event_queue_length)', 'events']],
    },
    {
      title: 'Since the last round of reconcile',
      unit: 's',
      queries: [['time() - max by (round) (reconcile_last_success_timestamp_seconds)', '{{round}}']],
    },
    {
      title: 'Free slots of workers',
      unit: 'short',
      queries: [
        [
          'min by (task_queue, worker_type) (temporal_worker_task_slots_available)',
          '{{task_queue}} {{worker_type}}',
        ],
      ],
    },
  ],
};

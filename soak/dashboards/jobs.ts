import type { Dashboard } from './grafana.ts';

const hourly = (name: string) => `sum by (outcome) (increase(${name}[1h]))`;

export const JOBS: Dashboard = {
  uid: 'content-service-jobs',
  title: 'jobs and money',
  panels: [
    {
      title: 'Open jobs',
      unit: 'short',
      queries: [['max by (kind, status) (jobs_open)', '{{kind}} {{status}}']],
      description: 'Counted up to 10,000.',
    },
    {
      title: 'Age of the oldest job',
      unit: 's',
      queries: [['max by (kind) (jobs_oldest_age_seconds)', '{{kind}}']],
    },
    {
      title: 'Translations ended in an hour',
      unit: 'short',
      queries: [[hourly('translation_jobs_ended_total'), '{{outcome}}']],
    },
    {
      title: 'Generations ended in an hour',
      unit: 'short',
      queries: [
        [hourly('generation_jobs_ended_total'), 'articles: {{outcome}}'],
        [hourly('image_jobs_ended_total'), 'images: {{outcome}}'],
      ],
    },
    {
      title: 'Credits held',
      unit: 'short',
      queries: [['max by (purpose) (credit_holds_open_credits)', '{{purpose}}']],
    },
    {
      title: 'Open holds',
      unit: 'short',
      queries: [['max by (purpose) (credit_holds_open)', '{{purpose}}']],
    },
    {
      title: 'Age of the oldest hold',
      unit: 's',
      queries: [['max by (purpose) (credit_holds_oldest_age_seconds)', '{{purpose}}']],
      description: 'A hold is settled or released when its run ends. A day is never right.',
    },
    {
      title: 'How long activities wait for a worker (95 %)',
      unit: 's',
      queries: [
        [
          'histogram_quantile(0.95, sum by (le, task_queue) (rate(temporal_activity_schedule_to_start_latency_seconds_bucket[$__rate_interval])))',
          '{{task_queue}}',
        ],
      ],
    },
    {
      title: 'Rows of deleted workspaces',
      unit: 's',
      queries: [['max(workspaces_emptying_oldest_age_seconds)', 'removed for']],
    },
    {
      title: 'Tries of prune in a day',
      unit: 'short',
      queries: [['sum by (step, outcome) (increase(prune_steps_total[1d]))', '{{step}}: {{outcome}}']],
    },
  ],
};

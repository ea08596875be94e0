import type { Dashboard } from './grafana.ts';

const COUNT = 'http_request_duration_seconds_count';
const BUCKET = 'http_request_duration_seconds_bucket';
const quantile = (part: number) =>
  `histogram_quantile(${part}, sum by (le) (rate(${BUCKET}[$__rate_interval])))`;
/** Of both processes, told apart by their address. */
const EACH = '{{job}} {{instance}}';

export const REQUESTS: Dashboard = {
  uid: 'content-service-requests',
  title: 'requests',
  panels: [
    {
      title: 'Requests by status',
      unit: 'reqps',
      queries: [[`sum by (status) (rate(${COUNT}[$__rate_interval]))`, '{{status}}']],
    },
    {
      title: 'Response time',
      unit: 's',
      queries: [
        [quantile(0.5), 'median'],
        [quantile(0.95), '95 %'],
        [quantile(0.99), '99 %'],
      ],
      description: 'Requests that wait for changes (long polls) are in it.',
    },
    {
      title: 'Busiest routes',
      unit: 'reqps',
      queries: [
        [`topk(10, sum by (method, route) (rate(${COUNT}[$__rate_interval])))`, '{{method}} {{route}}'],
      ],
    },
    {
      title: 'Slowest routes (95 %)',
      unit: 's',
      queries: [
        [
          `topk(10, histogram_quantile(0.95, sum by (le, method, route) (rate(${BUCKET}[$__rate_interval]))))`,
          '{{method}} {{route}}',
        ],
      ],
    },
    {
      title: '503 by what was short',
      unit: 'reqps',
      queries: [['sum by (cause) (rate(http_unavailable_total[$__rate_interval]))', '{{cause}}']],
    },
    {
      title: 'Refused: 401, 403, 429',
      unit: 'reqps',
      queries: [[`sum by (status) (rate(${COUNT}{status=~"401|403|429"}[$__rate_interval]))`, '{{status}}']],
      description: 'Whose they are: admin top. A 401 is nobody’s.',
    },
    {
      title: 'Memory of requests',
      unit: 'bytes',
      queries: [['sum by (room, instance) (http_room_bytes)', '{{room}} {{instance}}']],
      description: 'Of 96 MiB for workspaces and 8 MiB for strangers, in each server.',
    },
    {
      title: 'Requests that wait',
      unit: 'short',
      queries: [
        ['sum(http_room_waiters)', 'for memory'],
        ['sum(event_loop_turn_waiters)', 'for the event loop'],
        ['sum(database_connection_waiters)', 'for a connection'],
      ],
    },
    {
      title: 'Delay of the event loop (99 %)',
      unit: 's',
      queries: [['nodejs_eventloop_lag_p99_seconds', EACH]],
      description: 'It is sampled every 50 ms: 0.05 is none.',
    },
    {
      title: 'Heap in use, of what it may be',
      unit: 'percentunit',
      queries: [['nodejs_heap_size_used_bytes / nodejs_heap_size_limit_bytes', EACH]],
    },
    {
      title: 'Memory of processes',
      unit: 'bytes',
      queries: [['process_resident_memory_bytes', EACH]],
    },
    {
      title: 'CPU of processes, in cores',
      unit: 'short',
      queries: [['rate(process_cpu_seconds_total[$__rate_interval])', EACH]],
    },
    {
      title: 'Dependencies that do not respond',
      unit: 'short',
      queries: [['1 - min by (job, dependency) (dependency_available)', '{{job}}: {{dependency}}']],
    },
  ],
};

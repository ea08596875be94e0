import type { Dashboard } from './grafana.ts';

export const POSTGRES: Dashboard = {
  uid: 'content-service-postgres',
  title: 'Postgres',
  panels: [
    {
      title: 'Connections',
      unit: 'short',
      queries: [
        ['max by (state) (postgres_connections)', '{{state}}'],
        ['max(postgres_connections_max)', 'limit'],
      ],
    },
    {
      title: 'Requests that wait for a connection',
      unit: 'short',
      queries: [['sum by (instance) (database_connection_waiters)', '{{instance}}']],
    },
    {
      title: 'Transactions',
      unit: 'ops',
      queries: [['max by (outcome) (rate(postgres_transactions_total[$__rate_interval]))', '{{outcome}}']],
    },
    {
      title: 'Oldest open transaction',
      unit: 's',
      queries: [['max(postgres_oldest_transaction_seconds)', 'open for']],
      description: 'Numbers of events, partitions and vacuum wait for it. A dump is one, too.',
    },
    {
      title: 'Blocks from disk, of all',
      unit: 'percentunit',
      queries: [
        [
          'max(rate(postgres_blocks_total{source="disk"}[$__rate_interval])) / (max(rate(postgres_blocks_total{source="disk"}[$__rate_interval])) + max(rate(postgres_blocks_total{source="memory"}[$__rate_interval])))',
          'from disk',
        ],
      ],
    },
    {
      title: 'Size of the database',
      unit: 'bytes',
      queries: [['max(postgres_database_bytes)', 'size']],
    },
    {
      title: 'Deadlocks and WAL not archived, in an hour',
      unit: 'short',
      queries: [
        ['max(increase(postgres_deadlocks_total[1h]))', 'deadlocks'],
        ['max(increase(postgres_archive_failures_total[1h]))', 'WAL not archived'],
      ],
    },
    {
      title: '503 because of the database',
      unit: 'reqps',
      queries: [
        [
          'sum by (cause) (rate(http_unavailable_total{cause=~"connections|database_busy|database_away|contention"}[$__rate_interval]))',
          '{{cause}}',
        ],
      ],
    },
    {
      title: 'How far ahead partitions reach',
      unit: 's',
      queries: [['min by (table) (partitions_ahead_seconds)', '{{table}}']],
    },
    {
      title: 'Since prune began, and since the last backup',
      unit: 's',
      queries: [
        ['time() - max(prune_last_start_timestamp_seconds)', 'prune'],
        ['time() - max(backup_last_success_timestamp_seconds)', 'backup'],
      ],
    },
    {
      title: 'Figures of the database that could not be read, in an hour',
      unit: 'short',
      queries: [['sum(increase(database_metrics_errors_total[1h]))', 'reads']],
    },
  ],
};

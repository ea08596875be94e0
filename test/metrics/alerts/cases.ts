/** The states that docs/alerts.yml is tried in, in the notation of promtool: a sample each minute, from minute 0 on. */

/** Series with their samples; null takes a series away. Timestamps count from the start. */
export type State = Readonly<Record<string, string | null>>;

export interface AlertCase {
  readonly alert: string;
  /** What differs from HEALTHY. */
  readonly state: State;
  /** Labels of the one alert that fires, besides its severity. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** How long each state lasts, in minutes; alerts are looked at in its end. */
export const MINUTES = 480;

const constant = (value: number): string => `${value}+0x${MINUTES}`;
const growing = (by: number): string => `0+${by}x${MINUTES}`;
/** Grows by so much a minute for the last minutes. */
const lately = (minutes: number, by: number, before = 0): string =>
  `${before}+0x${MINUTES - minutes - 1} ${before}+${by}x${minutes}`;
/** The present time. */
const now = growing(60);
/** What happened so many minutes before the end, if only then; before 1970 where that is before the start. */
const ago = (minutes: number): string => constant((MINUTES - minutes) * 60);

const SERVER = { job: 'content-service-server', instance: 'server:9464' };
const WORKER = { job: 'content-service-worker', instance: 'worker:9464' };
const series = (name: string, labels: Readonly<Record<string, string>>): string =>
  `${name}{${Object.entries(labels)
    .map(([label, value]) => `${label}="${value}"`)
    .join(', ')}}`;
const ofServer = (name: string, labels: Readonly<Record<string, string>> = {}) =>
  series(name, { ...SERVER, ...labels });
const ofWorker = (name: string, labels: Readonly<Record<string, string>> = {}) =>
  series(name, { ...WORKER, ...labels });

const ROUNDS = ['jobs', 'operations', 'holds', 'deliveries', 'endpoints', 'workspaces'];
const requests = (status: string) =>
  ofServer('http_request_duration_seconds_count', { route: '/api/whoami', method: 'GET', status });
const requestBucket = (le: string) =>
  ofServer('http_request_duration_seconds_bucket', {
    route: '/api/whoami',
    method: 'GET',
    status: '200',
    le,
  });
const delayBucket = (le: string) => ofWorker('webhook_first_attempt_delay_seconds_bucket', { le });
const QUEUE = { task_queue: 'engine-calls' };
const waitBucket = (le: string) =>
  ofWorker('temporal_activity_schedule_to_start_latency_seconds_bucket', { ...QUEUE, le });
const attempts = (outcome: string) => ofWorker('webhook_delivery_attempts_total', { outcome });
const held = (purpose: string) => ofWorker('credit_holds_oldest_age_seconds', { purpose });
const slots = ofWorker('temporal_worker_task_slots_available', {
  ...QUEUE,
  worker_type: 'ActivityWorker',
});
const pruned = (step: string, outcome: string) => ofWorker('prune_steps_total', { step, outcome });
const connections = (state: string) => ofWorker('postgres_connections', { state });
const round = (name: string) => ofWorker('reconcile_last_success_timestamp_seconds', { round: name });
const dependency = (name: string, of = ofServer) => of('dependency_available', { dependency: name });

/** A service with some load and the small faults of every day: no alert fires. */
export const HEALTHY: State = {
  [ofServer('up')]: constant(1),
  [ofWorker('up')]: constant(1),
  ...Object.fromEntries(['postgres', 'temporal', 'images'].map((name) => [dependency(name), constant(1)])),
  ...Object.fromEntries(['postgres', 'temporal'].map((name) => [dependency(name, ofWorker), constant(1)])),
  [requests('200')]: growing(600),
  [requests('401')]: growing(6),
  [requests('429')]: growing(6),
  [requests('503')]: growing(1),
  [requestBucket('0.05')]: growing(580),
  [requestBucket('1')]: growing(599),
  [requestBucket('2.5')]: growing(600),
  [requestBucket('+Inf')]: growing(600),
  [ofServer('http_unavailable_total', { cause: 'memory' })]: growing(1),
  ...Object.fromEntries(
    [ofServer, ofWorker].flatMap((of) => [
      [of('nodejs_heap_size_used_bytes'), constant(200e6)],
      [of('nodejs_heap_size_limit_bytes'), constant(400e6)],
      [of('nodejs_eventloop_lag_p99_seconds'), constant(0.06)],
    ]),
  ),
  [ofWorker('webhook_outbox_oldest_age_seconds')]: constant(1),
  [ofWorker('webhook_retry_oldest_overdue_seconds')]: constant(2),
  [delayBucket('0.5')]: growing(55),
  [delayBucket('30')]: growing(60),
  [delayBucket('60')]: growing(60),
  [delayBucket('+Inf')]: growing(60),
  [attempts('succeeded')]: growing(60),
  [attempts('retry')]: growing(5),
  [attempts('failed')]: growing(2),
  [ofWorker('webhook_deliveries_ended_total', { outcome: 'given_up' })]: lately(5, 1),
  [ofWorker('webhook_deliveries_ended_total', { outcome: 'too_old' })]: constant(0),
  [ofWorker('webhook_events_missed_total')]: constant(0),
  [ofWorker('webhook_endpoints_held')]: constant(0),
  [ofWorker('event_queue_oldest_age_seconds')]: constant(0),
  [held('translation')]: constant(600),
  [held('ai_operation')]: constant(30),
  [ofWorker('jobs_oldest_age_seconds', { kind: 'translation' })]: constant(600),
  [ofWorker('translation_engine_refusals_total')]: constant(1),
  [ofWorker('generation_engine_refusals_total')]: constant(0),
  ...Object.fromEntries(ROUNDS.map((name) => [round(name), now])),
  [pruned('images', 'failed')]: lately(30, 0, 1),
  [pruned('images', 'done')]: lately(30, 0, 1),
  [pruned('events', 'failed')]: lately(3, 1),
  [pruned('events', 'done')]: lately(1, 1),
  [ofWorker('prune_last_start_timestamp_seconds')]: ago(1_500),
  [ofWorker('workspaces_emptying_oldest_age_seconds')]: constant(600),
  [ofWorker('partitions_ahead_seconds', { table: 'events' })]: constant(30 * 86_400),
  [ofWorker('backup_last_success_timestamp_seconds')]: ago(1_500),
  [ofWorker('postgres_archive_failures_total')]: constant(3),
  [connections('active')]: constant(10),
  [connections('idle')]: constant(70),
  [connections('in_transaction')]: constant(2),
  [ofWorker('postgres_connections_max')]: constant(300),
  [ofWorker('postgres_oldest_transaction_seconds')]: constant(30),
  [waitBucket('1')]: growing(60),
  [waitBucket('10')]: growing(60),
  [waitBucket('+Inf')]: growing(60),
  [slots]: constant(10),
  [ofWorker('database_metrics_errors_total')]: constant(2),
};

/** For each alert a state in which it fires. */
export const FIRING: readonly AlertCase[] = [
  { alert: 'ContentServiceDown', state: { [ofServer('up')]: lately(5, 0, 0) }, labels: SERVER },
  { alert: 'NoWorker', state: { [ofWorker('up')]: null } },
  {
    alert: 'DependencyAway',
    state: { [dependency('temporal', ofWorker)]: constant(0) },
    labels: { ...WORKER, dependency: 'temporal' },
  },
  { alert: 'ImageStoreAway', state: { [dependency('images')]: constant(0) }, labels: SERVER },
  { alert: 'RequestsFail', state: { [requests('500')]: growing(10) } },
  {
    alert: 'RequestsUnavailable',
    state: { [ofServer('http_unavailable_total', { cause: 'database_away' })]: lately(12, 10) },
    labels: { cause: 'database_away' },
  },
  {
    alert: 'RequestsSlow',
    state: { [requestBucket('0.05')]: growing(400), [requestBucket('1')]: growing(500) },
  },
  { alert: 'UnauthenticatedSurge', state: { [requests('401')]: lately(20, 90) } },
  { alert: 'RateLimitedSurge', state: { [requests('429')]: lately(20, 90) } },
  {
    alert: 'HeapNearLimit',
    state: { [ofServer('nodejs_heap_size_used_bytes')]: constant(360e6) },
    labels: SERVER,
  },
  {
    alert: 'EventLoopSlow',
    state: { [ofWorker('nodejs_eventloop_lag_p99_seconds')]: constant(0.4) },
    labels: WORKER,
  },
  { alert: 'DeliveriesNotClaimed', state: { [ofWorker('webhook_outbox_oldest_age_seconds')]: constant(90) } },
  {
    alert: 'DeliveriesLate',
    state: { [delayBucket('0.5')]: growing(10), [delayBucket('30')]: growing(40) },
  },
  { alert: 'RetriesOverdue', state: { [ofWorker('webhook_retry_oldest_overdue_seconds')]: constant(400) } },
  { alert: 'AttemptsFail', state: { [attempts('retry')]: lately(60, 100) } },
  {
    alert: 'DeliveriesGivenUp',
    state: { [ofWorker('webhook_deliveries_ended_total', { outcome: 'given_up' })]: lately(30, 1) },
  },
  { alert: 'EventsMissed', state: { [ofWorker('webhook_events_missed_total')]: lately(0, 1) } },
  { alert: 'EndpointsHeld', state: { [ofWorker('webhook_endpoints_held')]: constant(1) } },
  { alert: 'EventsNotNumbered', state: { [ofWorker('event_queue_oldest_age_seconds')]: constant(90) } },
  { alert: 'HoldForgotten', state: { [held('ai_operation')]: constant(900) } },
  {
    alert: 'CreditsHeldADay',
    state: { [held('generate')]: constant(90_000) },
    labels: { purpose: 'generate' },
  },
  {
    alert: 'JobStuck',
    state: { [ofWorker('jobs_oldest_age_seconds', { kind: 'generate' })]: constant(9_000) },
    labels: { kind: 'generate' },
  },
  { alert: 'EngineRefuses', state: { [ofWorker('generation_engine_refusals_total')]: lately(3, 1) } },
  { alert: 'ReconcileLate', state: { [round('holds')]: ago(30) }, labels: { round: 'holds' } },
  ...ROUNDS.map((name) => ({
    alert: 'ReconcileNotSeen',
    state: { [round(name)]: null },
    labels: { round: name },
  })),
  {
    alert: 'PruneStepFails',
    state: { [pruned('images', 'failed')]: lately(180, 1), [pruned('images', 'done')]: constant(1) },
    labels: { step: 'images' },
  },
  { alert: 'PruneNotRun', state: { [ofWorker('prune_last_start_timestamp_seconds')]: ago(3_000) } },
  {
    alert: 'WorkspaceNotEmptied',
    state: { [ofWorker('workspaces_emptying_oldest_age_seconds')]: constant(90_000) },
  },
  {
    alert: 'NoPartitionsMade',
    state: { [ofWorker('partitions_ahead_seconds', { table: 'events' })]: constant(10 * 86_400) },
    labels: { table: 'events' },
  },
  { alert: 'BackupOld', state: { [ofWorker('backup_last_success_timestamp_seconds')]: ago(1_600) } },
  { alert: 'ArchiveFails', state: { [ofWorker('postgres_archive_failures_total')]: lately(5, 1, 3) } },
  { alert: 'ConnectionsNearLimit', state: { [connections('idle')]: constant(270) } },
  {
    alert: 'TransactionOpenLong',
    state: { [ofWorker('postgres_oldest_transaction_seconds')]: constant(4_000) },
  },
  {
    alert: 'TooFewWorkers',
    state: { [waitBucket('1')]: growing(30), [waitBucket('10')]: growing(58) },
    labels: QUEUE,
  },
  { alert: 'NoFreeSlot', state: { [slots]: constant(0) }, labels: { ...QUEUE, instance: WORKER.instance } },
  { alert: 'DatabaseNotMeasured', state: { [ofWorker('webhook_outbox_oldest_age_seconds')]: null } },
  { alert: 'DatabaseNotMeasured', state: { [ofWorker('database_metrics_errors_total')]: lately(20, 2) } },
];

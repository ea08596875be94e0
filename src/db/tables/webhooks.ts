import type { ColumnType } from 'kysely';
import type {
  ArticleId,
  BurstId,
  DeliveryId,
  EndpointId,
  EventId,
  FanOutId,
  WorkspaceId,
} from '../../ids.ts';
import type { CreatedAt, Default, Json, Nullable, NullableTimestamp, Timestamp } from './columns.ts';

export type DeliveryStatus = 'pending' | 'succeeded' | 'failed';

/** An attempt that ended, as stored with its delivery and shown to its owner. */
export interface LoggedAttempt {
  readonly number: number;
  readonly startedAt: string;
  readonly durationMs: number;
  readonly responseStatus: number | null;
  readonly errorMessage: string | null;
  readonly responseBody: string | null;
  readonly note?: string;
}

export type DisabledFor = 'operator' | 'failing';

/** Events and their deliveries. */
export interface WebhookTables {
  events: {
    id: EventId;
    workspace_id: WorkspaceId;
    type: string;
    article_id: Nullable<string>;
    body: Buffer;
    request_id: Nullable<string>;
    /** Of W3C Trace Context: what its attempts are a part of; null where nothing is traced. */
    traceparent: Nullable<string>;
    created_at: CreatedAt;
    /** Endpoints that subscribe and were behind when it was stored: nothing was queued for them then. Null without any. */
    behind: Nullable<EndpointId[]>;
  };
  /** Endpoints that are behind: see src/webhooks/backlog/states.ts. */
  webhook_backlogs: {
    endpoint_id: EndpointId;
    /** The number in the event log up to which all is queued or passed over. */
    behind_from: number;
    /** When that number was given. */
    instant: Timestamp;
    /** Events are queued by their own statements again; the rest of the log is not worked off yet. */
    closing: Default<boolean>;
    created_at: CreatedAt;
  };
  /** The part of the log in which events were passed over. */
  webhook_missed: {
    endpoint_id: EndpointId;
    first_number: number;
    last_number: number;
    /** From the instant of the first to just after that of the last. */
    from_at: Timestamp;
    to_at: Timestamp;
  };
  webhook_endpoints: {
    id: EndpointId;
    workspace_id: WorkspaceId;
    url: string;
    /** Credentials (src/webhooks/secrets/credentials.ts), as ring.ts there writes them; empty once the endpoint is deleted. */
    secret: string;
    /** The key that `secret` names; null for one in clear. */
    secret_key_id: ColumnType<string | null, never, never>;
    events: string[];
    description: Default<string>;
    active: Default<boolean>;
    deleted_at: NullableTimestamp;
    /** Set while its workspace is deleted or suspended: nothing is claimed for it. */
    silenced_at: NullableTimestamp;
    /** The end of a rotation's overlap; past when the old secret is still stored. */
    rotation_ends_at: NullableTimestamp;
    /** Of an active one: events go on queueing, and nothing is claimed for it. */
    paused_at: NullableTimestamp;
    /** Why it is not active: only one that was disabled for failing can be resumed. */
    disabled_for: Nullable<DisabledFor>;
    /** Requests a second. */
    rate_limit: Nullable<number>;
    /** Of the custom headers in `secret`, sorted. */
    header_names: Default<string[]>;
    created_at: CreatedAt;
  };
  secret_keys: {
    id: string;
    /** A known text, encrypted with the key. */
    check_value: string;
    created_at: CreatedAt;
  };
  webhook_open: {
    id: DeliveryId;
    workspace_id: WorkspaceId;
    endpoint_id: EndpointId;
    event_id: EventId;
    event_created_at: Timestamp;
    event_type: string;
    status: Default<DeliveryStatus>;
    attempts: Default<number>;
    response_status: Nullable<number>;
    error_message: Nullable<string>;
    attempt_log: ColumnType<LoggedAttempt[], string | undefined, string>;
    due_at: CreatedAt;
    in_run: Default<boolean>;
    burst_id: Nullable<BurstId>;
    begun: Default<number>;
    begun_token: Nullable<string>;
    /** Attempts that were lost with their worker since the last outcome, and those of them as the only suspect. */
    losses: Default<number>;
    losses_alone: Default<number>;
    /** When the last one was; the same for all that were lost together. */
    lost_at: NullableTimestamp;
    /** After a loss: not claimed, and a run waits, until it is released. */
    parked: Default<boolean>;
    created_at: Timestamp;
  };
  webhook_bursts: {
    id: BurstId;
    started_at: CreatedAt;
  };
  webhook_log: {
    id: DeliveryId;
    workspace_id: WorkspaceId;
    endpoint_id: EndpointId;
    event_id: EventId;
    event_created_at: Timestamp;
    event_type: string;
    status: DeliveryStatus;
    attempts: number;
    response_status: Nullable<number>;
    error_message: Nullable<string>;
    attempt_log: Json<LoggedAttempt[]>;
    in_run: boolean;
    burst_id: Nullable<BurstId>;
    delivered_at: NullableTimestamp;
    ended_at: CreatedAt;
    created_at: Timestamp;
  };
  /** Events that a sequencer has not numbered yet. */
  event_queue: {
    workspace_id: WorkspaceId;
    /** The order of the changes of one article. */
    id: ColumnType<number, never, never>;
    event_id: EventId;
    event_created_at: Timestamp;
  };
  /** The last event of each workspace's log: number 0 before the first one. */
  event_counters: {
    workspace_id: WorkspaceId;
    number: Default<number>;
    event_id: Nullable<EventId>;
    instant: NullableTimestamp;
  };
  /** Numbers without a gap from 1 in each workspace; the oldest go with their partitions. */
  event_log: {
    workspace_id: WorkspaceId;
    number: number;
    event_id: EventId;
    event_created_at: Timestamp;
    /** When it was numbered; grows with the number. */
    instant: Timestamp;
  };
  webhook_health: {
    endpoint_id: EndpointId;
    last_success_at: NullableTimestamp;
    last_failure_at: NullableTimestamp;
    /** The end of the first delivery that failed since the last success; null when none has. */
    failing_since: NullableTimestamp;
    failed: number;
  };
  webhook_hours: {
    endpoint_id: EndpointId;
    hour: Timestamp;
    /** Of src/webhooks/health/buckets.ts. */
    bucket: number;
    succeeded: boolean;
    attempts: number;
  };
  /** See src/webhooks/pace/pace.ts. */
  webhook_paces: {
    endpoint_id: EndpointId;
    /** The integrator's bound, in requests a second. */
    max_rate: Nullable<number>;
    /** Counted up with each refusal that lowers the rate: those of requests claimed before lower it no more. */
    epoch: Default<number>;
    /** Requests a second. */
    rate: number;
    /** Nothing may be sent before. */
    next_at: CreatedAt;
    /** When the rate was lowered last. */
    refused_at: CreatedAt;
    /** The end of the silence after that; for ten minutes more it is in force. */
    resumed_at: CreatedAt;
    /** Whether the rate doubles every few seconds, until it is known how much the receiver takes. */
    searching: Default<boolean>;
    /** The rate that was refused last. */
    ceiling: Default<number>;
    /** The silence after the last refusal. */
    back_off_seconds: Default<number>;
    /** Requests since `taken_from`, at most the last ten seconds. */
    taken: Default<number>;
    taken_from: CreatedAt;
  };
  event_fanouts: {
    id: Default<FanOutId>;
    workspace_id: WorkspaceId;
    changed: string[];
    request_id: Nullable<string>;
    /** As of its events. */
    traceparent: Nullable<string>;
    article_ids: ArticleId[];
    created_at: CreatedAt;
    articles: ColumnType<number, never, never>;
    /** Its articles are in `event_fanout_hours`: what is left of it was held by somebody. */
    counted: Default<boolean>;
  };
  /** Articles of lists that became events, by the hour. */
  event_fanout_hours: {
    workspace_id: WorkspaceId;
    hour: Timestamp;
    events: number;
  };
}

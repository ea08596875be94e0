import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import { prepare, type Slots } from '../../db/prepared.ts';
import type { BurstId, EndpointId, WorkspaceId } from '../../ids.ts';
import type { DeliveryInRun, StartedDelivery } from '../deliveries/read-open.ts';
import { eventOf, isClaimable, isHeard, isLiving } from '../deliveries/states.ts';
import { availableAt, isInForce, spent, waitAt } from '../pace/pace.ts';

/** An endpoint with at most this many due deliveries gets runs for them. */
export const FEW_DUE = 5;
/** And its deliveries in runs are limited to this. */
const MAX_IN_RUNS = 20;

/** A delivery claimed by this process, with all that its attempt needs. */
export interface ClaimedDelivery extends DeliveryInRun, StartedDelivery {
  readonly inRun: boolean;
  /** The endpoint's secret as the table has it. With the token, the start of a burst's attempt; a run begins its own. */
  readonly stored: string;
  readonly token: string | null;
  /** When it was lost with others, once, and has had no outcome since. */
  readonly lostAt: Date | null;
  /** The claim has spent a request of the endpoint's pace, if there is one. */
  readonly isPaid: true;
}

/** What a claim has seen of an endpoint. */
export interface SeenEndpoint {
  readonly id: EndpointId;
  readonly workspaceId: WorkspaceId;
  readonly active: boolean;
  /** The endpoint's secret as the table has it, when it can't be read here; its deliveries are passed over. */
  readonly unreadable: string | null;
  /** Free due deliveries, counted up to six, including those claimed now; 0 while its pace has it wait. */
  readonly due: number;
  /** Seconds until its pace allows more; null without a pace, and when nothing is due. */
  readonly paceIn: number | null;
  /** Seconds until the next one is due, when none is; null when none waits. */
  readonly nextDueIn: number | null;
  /** `due_at` of the last one claimed; null when none was. */
  readonly claimedUpTo: Date | null;
}

/** An endpoint to claim from. */
export interface Candidate {
  readonly endpointId: EndpointId;
  /** Where to start: earlier entries are claimed and left dead entries in the index. */
  readonly dueFrom: Date | '-infinity';
  /** How many a burst may take. */
  readonly room: number;
  /** Asked only if a look finds something of it among the latest deliveries. */
  readonly isOnlyIfNew: boolean;
}

export interface ClaimOptions {
  /** In order of priority. */
  readonly candidates: readonly Candidate[];
  /** Whether to look for further endpoints among the latest deliveries. Theirs get runs, or are only seen. */
  readonly isLook: boolean;
  /** Where to continue the walk for endpoints with something due; null for no walk. */
  readonly walkFrom: EndpointId | null;
  /** How many to claim. */
  readonly limit: number;
  /** Runs that may be started now. */
  readonly tokens: number;
  /** The burst that takes what gets no run; null when none is open here. */
  readonly burstId: BurstId | null;
  /** Keys of this process: nothing is claimed whose secret names another. */
  readonly keyIds: readonly string[];
  /** Endpoints whose secret did not open lately although its key is here: nothing of theirs is claimed. */
  readonly held: readonly EndpointId[];
}

export interface Claim {
  readonly deliveries: readonly ClaimedDelivery[];
  readonly endpoints: readonly SeenEndpoint[];
  /** Where the walk continues; null when it is over. */
  readonly walkedTo: EndpointId | null;
  /** Whether a look read its maximum of the latest deliveries: only a walk finds the rest. */
  readonly isLookFull: boolean;
}

/** Before every endpoint. */
export const WALK_START = '00000000-0000-0000-0000-000000000000' as EndpointId;
/** Endpoints that one claim walks past, and the latest deliveries that a look reads. */
const WALK = 1_000;
const LATEST = 200;

/** A claimed delivery, or as the last row all that was seen. */
interface Row extends Omit<ClaimedDelivery, 'workspaceId' | 'url' | 'stored' | 'paceEpoch' | 'isPaid'> {
  readonly dueAt: Date;
  readonly seen: (Pick<Claim, 'walkedTo' | 'isLookFull'> & { readonly endpoints: readonly Seen[] }) | null;
}

type Seen = Omit<SeenEndpoint, 'claimedUpTo'> & Pick<ClaimedDelivery, 'url' | 'stored' | 'paceEpoch'>;

const dueOf = (endpoint: string): RawBuilder<boolean> => sql`
  delivery.endpoint_id = ${sql.ref(`${endpoint}.endpoint_id`)} AND delivery.due_at >= ${sql.ref(`${endpoint}.due_from`)}
  AND delivery.due_at <= now() AND ${isClaimable}`;
const isForRun = sql<boolean>`endpoint_id = ANY (ARRAY(SELECT endpoint_id FROM way WHERE into_run))`;

interface ClaimParameters extends Omit<ClaimOptions, 'candidates'> {
  readonly endpointIds: readonly EndpointId[];
  readonly dueFrom: readonly Candidate['dueFrom'][];
  readonly rooms: readonly number[];
  readonly onlyIfNew: readonly boolean[];
}

const claim = prepare(
  'claim_due',
  (_db, slot: Slots<ClaimParameters>) => sql<Row>`
    WITH RECURSIVE given AS MATERIALIZED (
      SELECT * FROM unnest(${slot('endpointIds')}::uuid[], ${slot('dueFrom')}::timestamptz[],
        ${slot('rooms')}::integer[], ${slot('onlyIfNew')}::boolean[])
        WITH ORDINALITY AS given (endpoint_id, due_from, room, only_if_new, position)
    ), latest AS MATERIALIZED (
      SELECT endpoint_id, due_at, in_run, burst_id, parked FROM webhook_open
      WHERE ${slot('isLook')}::boolean AND id > (SELECT uuidv7(interval '-2 seconds')) AND id < (SELECT uuidv7(interval '1 second'))
      ORDER BY id DESC LIMIT ${LATEST}
    ), walked (endpoint_id, due_at, step) AS (
      (SELECT endpoint_id, due_at, 1 FROM webhook_open
       WHERE ${slot('walkFrom')}::uuid IS NOT NULL AND endpoint_id > ${slot('walkFrom')}::uuid ORDER BY endpoint_id, due_at LIMIT 1)
      UNION ALL
      SELECT next.*, walked.step + 1 FROM walked CROSS JOIN LATERAL (
        SELECT endpoint_id, due_at FROM webhook_open WHERE endpoint_id > walked.endpoint_id
        ORDER BY endpoint_id, due_at LIMIT 1) AS next
      WHERE walked.step < ${WALK}
    ), candidate AS MATERIALIZED (
      SELECT endpoint_id, coalesce(max(due_from), '-infinity') AS due_from, coalesce(max(room), 0) AS room,
        min(position) AS position
      FROM (SELECT endpoint_id, due_from, room, position, NOT only_if_new AS is_asked FROM given
            UNION ALL SELECT endpoint_id, NULL, NULL, NULL, true FROM latest AS delivery WHERE due_at <= now() AND ${isClaimable}
            UNION ALL SELECT endpoint_id, NULL, NULL, NULL, true FROM walked WHERE due_at <= now()) AS each
      GROUP BY endpoint_id HAVING bool_or(is_asked)
    ), seen AS MATERIALIZED (
      SELECT candidate.*, endpoint.*, pace.*,
        CASE WHEN active AND available = 0 THEN 0 ELSE
          (SELECT count(*) FROM (SELECT FROM webhook_open AS delivery WHERE ${dueOf('candidate')}
                                 ORDER BY delivery.due_at LIMIT ${FEW_DUE + 1}) AS few)::integer END AS due,
        (SELECT extract(epoch FROM delivery.due_at - now()) FROM webhook_open AS delivery
         WHERE delivery.endpoint_id = candidate.endpoint_id AND delivery.due_at > now() AND ${isClaimable}
         ORDER BY delivery.due_at LIMIT 1)::float8 AS next_due_in
      FROM candidate
      CROSS JOIN LATERAL (SELECT workspace_id, url, secret, active,
                            (secret_key_id IS NULL OR secret_key_id = ANY (${slot('keyIds')}::text[]))
                              AND id <> ALL (${slot('held')}::uuid[]) AS readable
                          FROM webhook_endpoints AS endpoint
                          WHERE id = candidate.endpoint_id AND ${isLiving} AND ${isHeard} LIMIT 1) AS endpoint
      LEFT JOIN LATERAL (SELECT epoch, ${availableAt()} AS available, ${waitAt()} AS pace_in
                         FROM webhook_paces AS pace
                         WHERE pace.endpoint_id = candidate.endpoint_id AND ${isInForce()} LIMIT 1) AS pace ON true
    ), few AS (
      SELECT endpoint_id, position, due, ${MAX_IN_RUNS} - (
        SELECT count(*) FROM (SELECT FROM webhook_open AS delivery
          WHERE delivery.endpoint_id = seen.endpoint_id AND delivery.in_run LIMIT ${MAX_IN_RUNS}) AS runs)::integer AS places
      FROM seen WHERE active AND readable AND due BETWEEN 1 AND ${FEW_DUE} AND ${slot('tokens')}::integer > 0
    ), into_runs AS MATERIALIZED (
      SELECT endpoint_id, sum(due) OVER (ORDER BY position ROWS UNBOUNDED PRECEDING) <= ${slot('tokens')}::integer AS affordable
      FROM few WHERE places >= due
    ), burst AS MATERIALIZED (
      SELECT id FROM webhook_bursts WHERE id = ${slot('burstId')}::uuid FOR KEY SHARE
    ), way AS MATERIALIZED (
      SELECT *, CASE WHEN into_run THEN ${FEW_DUE} ELSE room * (SELECT count(*) FROM burst) END AS most
      FROM (SELECT *, endpoint_id = ANY (ARRAY(SELECT endpoint_id FROM into_runs WHERE affordable)) AS into_run
            FROM seen WHERE active AND readable AND due > 0) AS wanted
      ORDER BY position
    ), paced AS MATERIALIZED (
      SELECT endpoint_id, ${availableAt()} AS available FROM webhook_paces AS pace
      WHERE endpoint_id = ANY (ARRAY(SELECT endpoint_id FROM way WHERE available IS NOT NULL AND most > 0))
      FOR NO KEY UPDATE SKIP LOCKED
    ), picked AS MATERIALIZED (
      SELECT next.id
      FROM way CROSS JOIN LATERAL (
        SELECT delivery.id FROM webhook_open AS delivery WHERE ${dueOf('way')}
        ORDER BY delivery.due_at, uuid_send(delivery.id)
        LIMIT CASE WHEN way.available IS NULL THEN way.most
          ELSE least(way.most, coalesce((SELECT available FROM paced WHERE paced.endpoint_id = way.endpoint_id), 0)) END
        FOR NO KEY UPDATE SKIP LOCKED
      ) AS next
      LIMIT ${slot('limit')}
    ), claimed AS (
      UPDATE webhook_open
      SET in_run = ${isForRun}, burst_id = CASE WHEN ${isForRun} THEN NULL ELSE ${slot('burstId')}::uuid END,
        begun = CASE WHEN ${isForRun} THEN begun ELSE attempts + 1 END,
        begun_token = CASE WHEN ${isForRun} THEN begun_token ELSE gen_random_uuid() END
      WHERE id = ANY (ARRAY(SELECT id FROM picked))
      RETURNING *
    ), spent AS (
      UPDATE webhook_paces AS pace SET ${spent(sql`count.requests`)}
      FROM paced CROSS JOIN LATERAL (
        SELECT count(*)::integer AS requests FROM claimed WHERE claimed.endpoint_id = paced.endpoint_id) AS count
      WHERE pace.endpoint_id = paced.endpoint_id AND count.requests > 0
    )
    SELECT claimed.endpoint_id AS "endpointId", claimed.event_id AS "eventId", claimed.id, due_at AS "dueAt", event_type AS "eventType",
      attempts, in_run AS "inRun", begun_token AS token, claimed.created_at AS "createdAt",
      CASE WHEN losses = 1 THEN lost_at END AS "lostAt", body,
      article_id AS "articleId", request_id AS "requestId", traceparent, NULL AS seen
    FROM claimed LEFT JOIN LATERAL (SELECT body, article_id, request_id, traceparent ${eventOf('claimed')}) AS event ON true
    UNION ALL
    SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, jsonb_build_object(
      'endpoints', coalesce(jsonb_agg(jsonb_build_object('id', endpoint_id, 'workspaceId', workspace_id, 'url', url,
        'stored', secret, 'active', active, 'unreadable', CASE WHEN NOT readable THEN secret END, 'due', due,
        'nextDueIn', next_due_in, 'paceIn', CASE WHEN due > 0 OR available = 0 THEN pace_in END, 'paceEpoch', coalesce(epoch, 0))), '[]'),
      'walkedTo', (SELECT endpoint_id FROM walked WHERE step = ${WALK}),
      'isLookFull', (SELECT count(*) FROM latest) = ${LATEST})
    FROM seen
    ORDER BY "dueAt", id`,
);

/**
 * Claims due deliveries, the oldest of each endpoint first, without waiting for any lock. Each endpoint's way is
 * decided here: its deliveries get runs of their own when few are due, few are in runs, and there are tokens; else they
 * go to the burst, as far as it has room and is open. For a burst the claim begins the attempt: only living, active
 * endpoints are claimed from, and nothing lies between this and the request.
 *
 * Where an endpoint has a pace, the claim spends what it takes; while it has to wait, or another claim spends, it is passed over
 * (contract.md W75).
 *
 * Other endpoints are found among the latest deliveries, and by skipping along the index from one to the next, a
 * thousand at a time: the cost of a look depends neither on the number of deliveries nor of endpoints. Every part has
 * only one possible plan, since Postgres may plan while the table is empty: LATERAL with a LIMIT, and the primary key
 * `= ANY (ARRAY ...)`.
 */
export async function claimDue(db: Database, { candidates, ...options }: ClaimOptions): Promise<Claim> {
  const rows = await claim(db, {
    ...options,
    endpointIds: candidates.map(({ endpointId }) => endpointId),
    dueFrom: candidates.map(({ dueFrom }) => dueFrom),
    rooms: candidates.map(({ room }) => room),
    onlyIfNew: candidates.map(({ isOnlyIfNew }) => isOnlyIfNew),
  });
  const { endpoints = [], walkedTo = null, isLookFull = false } = rows.at(-1)?.seen ?? {};
  const seen = new Map(endpoints.map((endpoint) => [endpoint.id, endpoint]));
  const claimedUpTo = new Map<EndpointId, Date>();
  const deliveries = rows.flatMap(({ seen: _, dueAt, ...row }) => {
    const endpoint = seen.get(row.endpointId);
    if (endpoint === undefined) return [];
    claimedUpTo.set(endpoint.id, dueAt);
    const { workspaceId, url, stored, paceEpoch } = endpoint;
    return [{ ...row, workspaceId, url, stored, paceEpoch, isPaid: true as const }];
  });
  const withClaimed = endpoints.map(({ url, stored, paceEpoch, ...endpoint }) => ({
    ...endpoint,
    claimedUpTo: claimedUpTo.get(endpoint.id) ?? null,
  }));
  return { deliveries, endpoints: withClaimed, walkedTo, isLookFull };
}

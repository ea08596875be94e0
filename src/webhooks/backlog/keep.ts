import type { Logger } from 'pino';
import type { Database } from '../../db/database.ts';
import type { EndpointId } from '../../ids.ts';
import { pause } from '../../pause.ts';
import { ENDED_AT_ONCE, endOverdue } from '../deliveries/end.ts';
import { closeBacklog } from './close.ts';
import { markBehind } from './mark.ts';
import { forgetMissed } from './redeliver-missed.ts';
import { refill } from './refill.ts';
import { BACKLOG_BOUNDS, type BacklogBounds } from './states.ts';

/** Between two counts of what is open. */
const COUNT_MS = 10_000;
/** Between two rounds over the endpoints that are behind while there is nothing to queue. */
const IDLE_MS = 1_000;
/** The same while there is; at least a third of what the round took. */
const BUSY_MS = 50;
/** Statements that end overdue deliveries, between two counts. */
const MAX_BATCHES = 50;

export interface BacklogDependencies {
  /** Its statements are planned once, along indexes. */
  readonly db: Database;
  readonly logger: Logger;
  /** How long an event or a delivery waits. */
  readonly maxAgeSeconds: number;
  /** How long the event log is kept. */
  readonly retentionSeconds: number;
  /** Called when so many deliveries ended as too old, or events were passed over for an endpoint. */
  readonly onTooOld: (count: number) => void;
  readonly onMissed: (count: number) => void;
  readonly bounds?: BacklogBounds;
  /** Between two counts of what is open, in milliseconds. */
  readonly countMs?: number;
}

/** What a round over the endpoints that are behind found: none, nothing to do for any, or work done. */
type Round = 'none' | 'idle' | 'busy';

/**
 * The loop of a worker that keeps what waits within bounds: every ten seconds it marks endpoints that have very many open
 * deliveries and ends those that are too old, and as long as any endpoint is behind it refills them from the log, in turn.
 * Any number of workers do so at once: see states.ts.
 * @returns stops it, after the statement under way
 */
export function keepBacklogs({
  db,
  logger,
  maxAgeSeconds,
  retentionSeconds,
  onTooOld,
  onMissed,
  bounds = BACKLOG_BOUNDS,
  countMs = COUNT_MS,
}: BacklogDependencies): () => Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;

  async function count(): Promise<void> {
    const marked = await markBehind(db, bounds, signal);
    for (const endpointId of marked) logger.info({ endpointId }, 'webhook endpoint is behind');
    let overdue = 0;
    for (let batch = 0; batch < MAX_BATCHES && !signal.aborted; batch += 1) {
      const ended = await endOverdue(db, maxAgeSeconds);
      overdue += ended;
      if (ended < ENDED_AT_ONCE) break;
    }
    if (overdue > 0) {
      onTooOld(overdue);
      logger.warn({ count: overdue }, 'webhook deliveries ended: they were too old');
    }
    await forgetMissed(db, retentionSeconds);
  }

  async function refillOne(endpointId: EndpointId): Promise<boolean> {
    const { isClosing, isDone, missed } = await refill(db, endpointId, maxAgeSeconds, bounds);
    if (missed > 0) {
      onMissed(missed);
      logger.warn({ endpointId, missed }, 'events passed over for a webhook endpoint');
    }
    if (isClosing && (await closeBacklog(db, endpointId))) {
      logger.info({ endpointId }, 'webhook endpoint has caught up');
    }
    return !isDone;
  }

  async function refillAll(): Promise<Round> {
    const behind = await db
      .selectFrom('webhook_backlogs')
      .select('endpoint_id')
      .orderBy('endpoint_id')
      .execute();
    let round: Round = behind.length === 0 ? 'none' : 'idle';
    for (const { endpoint_id } of behind) {
      if (signal.aborted) break;
      try {
        if (await refillOne(endpoint_id)) round = 'busy';
      } catch (err) {
        logger.warn({ err, endpointId: endpoint_id }, 'webhook endpoint not refilled');
      }
    }
    return round;
  }

  async function run(): Promise<void> {
    for (let countAt = performance.now(); !signal.aborted; ) {
      const began = performance.now();
      let round: Round = 'none';
      try {
        if (began >= countAt) {
          countAt = began + countMs;
          await count();
        }
        round = await refillAll();
      } catch (err) {
        logger.warn({ err }, 'backlogs of webhook endpoints not looked at');
      }
      const now = performance.now();
      const rest = {
        none: countAt - now,
        idle: Math.max(IDLE_MS, 3 * (now - began)),
        busy: Math.max(BUSY_MS, (now - began) / 3),
      }[round];
      await pause(Math.max(0, rest), signal);
    }
  }

  const running = run();
  return async () => {
    stopping.abort();
    await running;
  };
}

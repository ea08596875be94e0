import type { EndpointId, WorkspaceId } from '../../ids.ts';
import type { AttemptRecord } from '../../temporal/shapes.ts';
import { MAX_ATTEMPTS } from '../attempts/schedule.ts';
import { bucketOf } from './buckets.ts';

/** An attempt whose outcome is known. */
export interface AttemptEnd extends Pick<AttemptRecord, 'verdict' | 'number' | 'durationMs'> {
  readonly endpointId: EndpointId;
  readonly workspaceId: WorkspaceId;
}

/** What became of an endpoint's deliveries; times in milliseconds since 1970. */
export interface Outcomes {
  lastSuccessAt: number | null;
  /** Deliveries that ended failed after that. */
  failed: number;
  firstFailureAt: number | null;
  lastFailureAt: number | null;
}

/** Attempts of one endpoint, hour, bucket and outcome. */
export interface HourCount {
  readonly endpointId: EndpointId;
  readonly hour: number;
  readonly bucket: number;
  readonly succeeded: boolean;
  attempts: number;
}

/** What a process has seen since it last wrote. */
export interface Seen {
  readonly outcomes: ReadonlyMap<EndpointId, Outcomes>;
  readonly hours: readonly HourCount[];
}

export interface Figures {
  attemptEnded(end: Omit<AttemptEnd, 'workspaceId'>): void;
  /** All that was seen since the last call. */
  take(): Seen;
}

const HOUR_MS = 3_600_000;
/** Endpoints that are remembered between two writes; of others nothing is counted. */
const MAX_ENDPOINTS = 10_000;

/** Sums the attempts of a process by endpoint (contract.md W69): an attempt writes nothing. */
export function createFigures(now: () => number = Date.now): Figures {
  let outcomes = new Map<EndpointId, Outcomes>();
  let hours = new Map<string, HourCount>();

  function outcomesOf(endpointId: EndpointId): Outcomes | undefined {
    const known = outcomes.get(endpointId);
    if (known !== undefined || outcomes.size >= MAX_ENDPOINTS) return known;
    const none: Outcomes = { lastSuccessAt: null, failed: 0, firstFailureAt: null, lastFailureAt: null };
    outcomes.set(endpointId, none);
    return none;
  }

  return {
    attemptEnded({ endpointId, verdict, number, durationMs }) {
      const of = outcomesOf(endpointId);
      if (of === undefined) return;
      const at = now();
      const succeeded = verdict === 'succeeded';
      const hour = Math.floor(at / HOUR_MS) * HOUR_MS;
      const bucket = bucketOf(durationMs);
      const key = `${endpointId} ${hour} ${bucket} ${succeeded}`;
      const count = hours.get(key) ?? { endpointId, hour, bucket, succeeded, attempts: 0 };
      count.attempts += 1;
      hours.set(key, count);
      if (succeeded) {
        Object.assign(of, { lastSuccessAt: at, failed: 0, firstFailureAt: null, lastFailureAt: null });
      } else if (verdict === 'failed' || number >= MAX_ATTEMPTS) {
        of.failed += 1;
        of.firstFailureAt ??= at;
        of.lastFailureAt = at;
      }
    },
    take() {
      const seen = { outcomes, hours: [...hours.values()] };
      outcomes = new Map();
      hours = new Map();
      return seen;
    },
  };
}

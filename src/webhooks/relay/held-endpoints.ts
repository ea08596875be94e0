import type { Logger } from 'pino';
import type { EndpointId } from '../../ids.ts';
import { keyIdOf } from '../secrets/ring.ts';

/** How long nothing is claimed for an endpoint after its secret did not open. */
const HOLD_MS = 60_000;
/** An endpoint that was not met for this long has nothing due any more, or is sent to again. */
const FORGET_MS = 120_000;
/** Endpoints that are remembered; a claim excludes the first tenth of them. */
const MAX_HELD = 10_000;
const MAX_EXCLUDED = MAX_HELD / 10;

/** Endpoints with due deliveries that this process does not send, since it can't read their secrets (contract.md D25). */
export interface HeldEndpoints {
  /** Keys of this process. */
  readonly keyIds: readonly string[];
  /** An attempt began, and the secret did not open: nothing is claimed for a minute. */
  failed(id: EndpointId, stored: string): void;
  /** A claim passed over due deliveries. */
  passed(id: EndpointId, stored: string): void;
  /** Those that nothing may be claimed for now, besides all that name a key of others. */
  excluded(): EndpointId[];
  /** How many are held; 10,000 means at least so many. */
  count(): number;
}

/** Each endpoint is logged once, or when its key is missing here each key. */
export function createHeldEndpoints(logger: Logger, keyIds: readonly string[]): HeldEndpoints {
  const endpoints = new Map<EndpointId, { metAt: number; heldUntil: number }>();
  const missingKeys = new Map<string, number>();

  function log(endpointId: EndpointId, stored: string, now: number): void {
    const keyId = keyIdOf(stored);
    const isMissing = keyId !== null && !keyIds.includes(keyId);
    if (!isMissing) {
      logger.error(
        { endpointId, secretKeyId: keyId },
        'secret not readable; the deliveries of its endpoint are held',
      );
    } else if (now - (missingKeys.get(keyId) ?? Number.NEGATIVE_INFINITY) > FORGET_MS) {
      logger.error(
        { endpointId, secretKeyId: keyId },
        'key missing in SECRETS_KEYS; deliveries of its endpoints are held',
      );
    }
  }

  function meet(id: EndpointId, stored: string, holdMs: number): void {
    const now = performance.now();
    const before = endpoints.get(id);
    if (before === undefined && endpoints.size >= MAX_HELD) return;
    if (before === undefined) log(id, stored, now);
    const keyId = keyIdOf(stored);
    if (keyId !== null && !keyIds.includes(keyId)) missingKeys.set(keyId, now);
    endpoints.set(id, { metAt: now, heldUntil: Math.max(before?.heldUntil ?? 0, now + holdMs) });
  }

  const forget = () => {
    const now = performance.now();
    for (const [id, { metAt }] of endpoints) if (now - metAt > FORGET_MS) endpoints.delete(id);
  };

  return {
    keyIds,
    failed: (id, stored) => meet(id, stored, HOLD_MS),
    passed: (id, stored) => meet(id, stored, 0),
    excluded() {
      if (endpoints.size === 0) return [];
      const now = performance.now();
      const held = [...endpoints].flatMap(([id, { heldUntil }]) => (heldUntil > now ? id : []));
      return held.slice(0, MAX_EXCLUDED);
    },
    count() {
      forget();
      return endpoints.size;
    },
  };
}

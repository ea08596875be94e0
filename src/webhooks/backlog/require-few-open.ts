import { sql } from 'kysely';
import type { Tx } from '../../db/database.ts';
import { ServiceError } from '../../errors.ts';
import type { EndpointId } from '../../ids.ts';
import { BACKLOG_BOUNDS } from './states.ts';

const RETRY_AFTER_SECONDS = 30;

/**
 * Redelivering adds to what is open only up to the bound of an endpoint (contract.md W105): what comes then waits in the log,
 * where it is already. The caller holds the endpoint.
 * @throws {ServiceError} RATE_LIMITED
 */
export async function requireFewOpen(tx: Tx, endpointId: EndpointId): Promise<void> {
  const { rows } = await sql<{ open: number }>`
    SELECT count(*)::integer AS open FROM (
      SELECT FROM webhook_open WHERE endpoint_id = ${endpointId} ORDER BY due_at LIMIT ${BACKLOG_BOUNDS.mark}) AS few`.execute(
    tx,
  );
  if ((rows[0]?.open ?? 0) < BACKLOG_BOUNDS.mark) return;
  throw new ServiceError(
    'RATE_LIMITED',
    `The endpoint has ${BACKLOG_BOUNDS.mark} open deliveries or more. Continue when fewer are open.`,
    { retryAfter: RETRY_AFTER_SECONDS },
  );
}

import type { Tx } from '../../db/database.ts';
import { textStatement } from '../../db/prepared.ts';
import type { EndpointId, WorkspaceId } from '../../ids.ts';

/** An endpoint whose row this transaction holds. */
export interface LockedEndpoint {
  readonly workspaceId: WorkspaceId;
  readonly active: boolean;
}

const lock = textStatement<LockedEndpoint>(
  'lock_endpoint_of_backlog',
  `SELECT workspace_id AS "workspaceId", active FROM webhook_endpoints
   WHERE id = $1 AND deleted_at IS NULL FOR NO KEY UPDATE SKIP LOCKED`,
);

/**
 * Locks an endpoint, so that nobody else marks, refills or closes it, and nothing is redelivered to it. Storing events is not
 * blocked. The next statement sees all that the holder before has committed.
 * @returns undefined when it is deleted, or locked by somebody
 */
export const lockEndpoint = async (tx: Tx, endpointId: EndpointId): Promise<LockedEndpoint | undefined> =>
  (await lock(tx, endpointId))[0];

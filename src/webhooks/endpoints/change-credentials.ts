import { sql } from 'kysely';
import type { Tx } from '../../db/database.ts';
import type { EndpointId, WorkspaceId } from '../../ids.ts';
import { type Credentials, requireCredentials, toText, withoutRotation } from '../secrets/credentials.ts';
import type { SecretRing } from '../secrets/ring.ts';
import { livingEndpoint, noSuchEndpoint } from './queries.ts';

/** A living endpoint whose row is locked. */
export interface HeldEndpoint {
  readonly credentials: Credentials;
  /** Whether a rotation's overlap has neither ended nor been ended. */
  readonly isRotating: boolean;
  /** The database's clock. */
  readonly now: Date;
}

/**
 * Changes what an endpoint's requests are signed with or carry, under its row's lock: deletion, a new key of secrets and
 * other changes come before or after. No send waits for it. A rotation that is over
 * is none any more.
 * @throws {ServiceError} RESOURCE_NOT_FOUND; SERVICE_UNAVAILABLE when no key of this process decrypts what is stored
 */
export async function changeCredentials(
  tx: Tx,
  ring: SecretRing,
  place: { readonly workspaceId: WorkspaceId; readonly endpointId: EndpointId },
  change: (held: HeldEndpoint) => Credentials,
): Promise<void> {
  const { workspaceId, endpointId } = place;
  const row = await livingEndpoint(tx, workspaceId, endpointId)
    .select(['secret', sql<Date>`clock_timestamp()`.as('now')])
    .select(sql<boolean>`coalesce(rotation_ends_at > clock_timestamp(), false)`.as('isRotating'))
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow(noSuchEndpoint);
  const credentials = requireCredentials(ring, endpointId, row.secret);
  const changed = change({
    credentials: row.isRotating ? credentials : withoutRotation(credentials),
    isRotating: row.isRotating,
    now: row.now,
  });
  await tx
    .updateTable('webhook_endpoints')
    .set({
      secret: ring.encrypt(endpointId, toText(changed)),
      rotation_ends_at: changed.next?.activeAt ?? null,
      header_names: Object.keys(changed.headers).sort(),
    })
    .where('id', '=', endpointId)
    .execute();
}

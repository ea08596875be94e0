import { recordAudit } from '../../audit/record.ts';
import { requirePermissions, type VerbContext } from '../../context.ts';
import { inTransaction } from '../../db/transaction.ts';
import { conflict } from '../../errors.ts';
import { iso } from '../../fields.ts';
import type { EndpointId } from '../../ids.ts';
import { holdKey, holdRoles } from '../../roles/authority.ts';
import type { RotatedSecret } from '../schemas.ts';
import { withoutRotation } from '../secrets/credentials.ts';
import { generateSecret } from '../secrets/generate.ts';
import type { SecretRing } from '../secrets/ring.ts';
import { changeCredentials } from './change-credentials.ts';

const HOUR_MS = 3_600_000;

type Context = VerbContext & { readonly secrets: SecretRing };

/**
 * Makes a new secret for an endpoint, shown this once (contract.md W61 and W62). Until the overlap ends both sign; with
 * no overlap the old one is gone at once, as after a leak.
 * @param overlapHours 0 to 168
 * @throws {ServiceError} RESOURCE_NOT_FOUND; CONFLICT `rotation_open`; SERVICE_UNAVAILABLE when the present secret can't
 *   be read; UNAUTHENTICATED and FORBIDDEN when the caller's key or role has changed meanwhile
 */
export async function rotateSecret(
  context: Context,
  { endpointId, overlapHours }: { readonly endpointId: EndpointId; readonly overlapHours: number },
): Promise<RotatedSecret> {
  const { db, actor, secrets } = context;
  requirePermissions(actor, 'integrations.create');
  const { workspaceId } = actor;
  const secret = generateSecret();
  return inTransaction(db, async (tx) => {
    await holdKey(tx, actor);
    await holdRoles(tx, actor, ['integrations.create']);
    let activeAt = new Date();
    await changeCredentials(tx, secrets, { workspaceId, endpointId }, ({ credentials, isRotating, now }) => {
      if (isRotating) {
        throw conflict('A rotation of this secret is open; activate its new secret first.', 'rotation_open');
      }
      activeAt = new Date(now.getTime() + overlapHours * HOUR_MS);
      const next = { secret, activeAt };
      return overlapHours === 0 ? withoutRotation({ ...credentials, next }) : { ...credentials, next };
    });
    await recordAudit(tx, context, {
      action: 'webhooks.secret_rotated',
      targetType: 'webhook_endpoint',
      targetId: endpointId,
      details: { activeAt: iso(activeAt) },
    });
    return { secret, activeAt: iso(activeAt) };
  });
}

/**
 * Ends the overlap of a rotation: from now on the new secret alone signs (contract.md W61).
 * @throws {ServiceError} RESOURCE_NOT_FOUND; CONFLICT `no_rotation`; SERVICE_UNAVAILABLE when what is stored can't be read
 */
export async function activateSecret(context: Context, endpointId: EndpointId): Promise<void> {
  const { db, actor, secrets } = context;
  requirePermissions(actor, 'integrations.create');
  const { workspaceId } = actor;
  await inTransaction(db, async (tx) => {
    await changeCredentials(tx, secrets, { workspaceId, endpointId }, ({ credentials, isRotating }) => {
      if (!isRotating) throw conflict('No rotation of this secret is open.', 'no_rotation');
      return withoutRotation(credentials);
    });
    await recordAudit(tx, context, {
      action: 'webhooks.secret_activated',
      targetType: 'webhook_endpoint',
      targetId: endpointId,
    });
  });
}

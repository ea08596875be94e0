import { recordAudit } from '../../audit/record.ts';
import { requirePermissions, type VerbContext } from '../../context.ts';
import { countRows } from '../../db/count-rows.ts';
import type { Tx } from '../../db/database.ts';
import { inTransaction } from '../../db/transaction.ts';
import { conflict, invalid } from '../../errors.ts';
import { iso } from '../../fields.ts';
import { type EndpointId, newId, type WorkspaceId } from '../../ids.ts';
import { parseReceiverUrl } from '../../outbound/address-guard.ts';
import { type AddressGuard, checkUrlAtRegistration } from '../../outbound/resolver.ts';
import { holdKey, holdRoles } from '../../roles/authority.ts';
import type { EndpointRegistration, RegisteredEndpoint } from '../schemas.ts';
import { generateSecret } from '../secrets/generate.ts';
import type { SecretRing } from '../secrets/ring.ts';
import { receiverOf } from './queries.ts';
import { silencedSince } from './silence.ts';

/** Living endpoints of a workspace: every event is stored once for each. */
const MAX_ENDPOINTS = 100;

/** For a transaction that holds the workspace. @throws {ServiceError} CONFLICT `endpoint_limit` */
async function requireRoom(tx: Tx, workspaceId: WorkspaceId): Promise<void> {
  const living = tx
    .selectFrom('webhook_endpoints')
    .where('workspace_id', '=', workspaceId)
    .where('deleted_at', 'is', null);
  const count = await countRows(tx, living);
  if (count >= MAX_ENDPOINTS) {
    throw conflict(
      `A workspace has at most ${MAX_ENDPOINTS} webhook endpoints; delete one first.`,
      'endpoint_limit',
    );
  }
}

/** @throws {ServiceError} INVALID_REQUEST for a URL that nothing may be sent to */
async function normaliseUrl(text: string, guard: AddressGuard): Promise<string> {
  const verdict = parseReceiverUrl(text);
  if (!verdict.ok) throw invalid('/url', verdict.reason);
  const { href } = verdict.url;
  const checked = await checkUrlAtRegistration(href, guard);
  if (!checked.ok) throw invalid('/url', checked.reason);
  return href;
}

/**
 * Registers a receiver, active at once (contract.md W1, W2, W3, W7, W10 and W11), with its secret encrypted. Its address is looked up before the
 * transaction begins; a name that does not resolve yet is accepted, since every delivery checks it again.
 * @throws {ServiceError} INVALID_REQUEST for a URL that is not a public http or https address; CONFLICT
 *   `endpoint_limit`; UNAUTHENTICATED and FORBIDDEN when the caller's key or role has changed meanwhile
 */
export async function registerEndpoint(
  context: VerbContext & { readonly guard: AddressGuard; readonly secrets: Pick<SecretRing, 'encrypt'> },
  input: EndpointRegistration,
): Promise<RegisteredEndpoint> {
  const { db, actor, guard, secrets } = context;
  requirePermissions(actor, 'integrations.create');
  const url = await normaliseUrl(input.url, guard);
  const id = newId<EndpointId>();
  const secret = generateSecret();
  const stored = secrets.encrypt(id, secret);
  const events = [...new Set(input.events)];
  const { created_at } = await inTransaction(db, async (tx) => {
    await holdKey(tx, actor);
    await holdRoles(tx, actor, ['integrations.create']);
    await requireRoom(tx, actor.workspaceId);
    const inserted = await tx
      .insertInto('webhook_endpoints')
      .values({
        id,
        workspace_id: actor.workspaceId,
        url,
        secret: stored,
        events,
        description: input.description ?? '',
        // A deletion or suspension since the request began.
        silenced_at: silencedSince(actor.workspaceId),
      })
      .returning('created_at')
      .executeTakeFirstOrThrow();
    await recordAudit(tx, context, {
      action: 'webhooks.created',
      targetType: 'webhook_endpoint',
      targetId: id,
      details: { host: receiverOf(url), events },
    });
    return inserted;
  });
  return { endpoint: { id, url, events, active: true, createdAt: iso(created_at) }, secret };
}

import { sql } from 'kysely';
import { requirePermissions, type VerbContext } from '../../context.ts';
import type { DeliveryStatus } from '../../db/tables.ts';
import { EVENT_TYPES } from '../../events/catalog.ts';
import { iso } from '../../fields.ts';
import { selectRecentDeliveries } from '../deliveries/queries.ts';

/** Living endpoints, oldest first and without secrets, the 50 newest deliveries, and the catalog (contract.md W4). */
export async function listWebhooks(
  { db, actor }: VerbContext,
  { deliveryStatus }: { readonly deliveryStatus?: DeliveryStatus | undefined },
) {
  requirePermissions(actor, 'integrations.read');
  const [rows, deliveries] = await Promise.all([
    db
      .selectFrom('webhook_endpoints')
      .select(['id', 'url', 'events', 'active', 'created_at as createdAt', 'description'])
      .select(
        sql<Date | null>`CASE WHEN rotation_ends_at > now() THEN rotation_ends_at END`.as('rotationEndsAt'),
      )
      .where('workspace_id', '=', actor.workspaceId)
      .where('deleted_at', 'is', null)
      .orderBy('created_at')
      .orderBy('id')
      .execute(),
    selectRecentDeliveries(db, actor.workspaceId, deliveryStatus),
  ]);
  const endpoints = rows.map((row) => ({
    ...row,
    createdAt: iso(row.createdAt),
    rotationEndsAt: iso(row.rotationEndsAt),
  }));
  return { endpoints, deliveries, events: EVENT_TYPES };
}

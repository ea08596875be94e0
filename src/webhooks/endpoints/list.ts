import { requirePermissions, type VerbContext } from '../../context.ts';
import type { DeliveryStatus } from '../../db/tables.ts';
import { EVENT_TYPES } from '../../events/catalog.ts';
import { selectRecentDeliveries } from '../deliveries/queries.ts';
import { selectEndpoints } from './show.ts';

/** Living endpoints, oldest first and without secrets, the 50 newest deliveries, and the catalog (contract.md W4). */
export async function listWebhooks(
  { db, actor }: VerbContext,
  { deliveryStatus }: { readonly deliveryStatus?: DeliveryStatus | undefined },
) {
  requirePermissions(actor, 'integrations.read');
  const [endpoints, deliveries] = await Promise.all([
    selectEndpoints(db, actor.workspaceId),
    selectRecentDeliveries(db, actor.workspaceId, deliveryStatus),
  ]);
  return { endpoints, deliveries, events: EVENT_TYPES };
}

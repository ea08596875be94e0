import { requirePermissions, type VerbContext } from '../../context.ts';
import type { DeliveryStatus } from '../../db/tables.ts';
import { EVENT_TYPES } from '../../events/catalog.ts';
import { type DeliveryItem, selectRecentDeliveries } from '../deliveries/queries.ts';
import { type EndpointItem, selectEndpoints } from './queries.ts';

export interface WebhookList {
  readonly endpoints: readonly EndpointItem[];
  readonly deliveries: readonly DeliveryItem[];
  readonly events: readonly string[];
}

/** Endpoints, the 50 newest deliveries over all of them, and the catalog (contract.md W4). */
export async function listWebhooks(
  { db, actor }: VerbContext,
  { deliveryStatus }: { readonly deliveryStatus?: DeliveryStatus | undefined },
): Promise<WebhookList> {
  requirePermissions(actor, 'integrations.read');
  const [endpoints, deliveries] = await Promise.all([
    selectEndpoints(db, actor.workspaceId),
    selectRecentDeliveries(db, actor.workspaceId, deliveryStatus),
  ]);
  return { endpoints, deliveries, events: EVENT_TYPES };
}

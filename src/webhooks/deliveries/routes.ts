import { z } from 'zod';
import { decodeCursor } from '../../http/paging.ts';
import { defineRoute, type RouteModule } from '../../http/route.ts';
import { pathId } from '../../http/scope.ts';
import { accepted, ok } from '../../http/success.ts';
import type { DeliveryId } from '../../ids.ts';
import type { RunCanceller } from '../endpoints/run-canceller.ts';
import {
  cancelledExample,
  deliveryDetailExample,
  listedDeliveryExample,
  redeliveryExample,
} from '../examples.ts';
import {
  deliveryPageSchema,
  listDeliveriesQuery,
  webhookDeliveryDetailSchema,
  webhookDeliverySchema,
} from '../schemas.ts';
import { cancelDelivery } from './cancel.ts';
import { listDeliveries } from './list.ts';
import { readDeliveryDetail } from './read.ts';
import { redeliver } from './redeliver.ts';

const deliveryIn = (params: { readonly deliveryId: string }): DeliveryId =>
  pathId(params.deliveryId, 'webhook delivery');

/**
 * Deliveries: list them, and read, redeliver and cancel single ones.
 * @param runCanceller cancels the runs of cancelled deliveries
 */
export const createDeliveryRoutes = (runCanceller: RunCanceller): RouteModule[] => [
  defineRoute(
    {
      method: 'get',
      path: '/api/workspaces/{workspaceId}/webhooks/deliveries',
      operationId: 'listWebhookDeliveries',
      summary: 'List webhook deliveries',
      description:
        'Deliveries of all endpoints, open ones and those that have ended, newest first, page by page. Follow `nextCursor` until ' +
        'it is null: where a filter leaves little, a page may be short or empty.',
      tags: ['Webhooks'],
      scope: 'workspace',
      permissions: ['integrations.read'],
      query: listDeliveriesQuery,
      responses: {
        200: {
          description: 'One page.',
          schema: deliveryPageSchema,
          example: { deliveries: [listedDeliveryExample], nextCursor: null },
        },
      },
    },
    async ({ context, query: { limit, cursor, ...filter } }) =>
      ok(await listDeliveries(context, filter, { limit, position: decodeCursor<DeliveryId>(cursor) })),
  ),
  defineRoute(
    {
      method: 'get',
      path: '/api/workspaces/{workspaceId}/webhooks/deliveries/{deliveryId}',
      operationId: 'getWebhookDelivery',
      summary: 'Read a webhook delivery',
      description:
        'The delivery with the exact text it sends, every attempt so far with the first 1 KiB of the response, and ' +
        'when the next attempt is due.',
      tags: ['Webhooks'],
      scope: 'workspace',
      permissions: ['integrations.read'],
      responses: {
        200: {
          description: 'The delivery.',
          schema: z.object({ delivery: webhookDeliveryDetailSchema }),
          example: { delivery: deliveryDetailExample },
        },
      },
    },
    async ({ context, params }) => ok({ delivery: await readDeliveryDetail(context, deliveryIn(params)) }),
  ),
  defineRoute(
    {
      method: 'post',
      path: '/api/workspaces/{workspaceId}/webhooks/deliveries/{deliveryId}/redeliver',
      operationId: 'redeliverWebhook',
      summary: 'Redeliver one event',
      description:
        "Queues a new delivery of the same event to the same endpoint, whatever the first one's status: the same " +
        'body, a new id, and six attempts of its own. A disabled endpoint is 409 `endpoint_disabled`, and an ' +
        'event that is no longer kept 404.',
      tags: ['Webhooks'],
      scope: 'workspace',
      permissions: ['integrations.create'],
      responses: {
        202: {
          description: 'The new delivery.',
          schema: z.object({ delivery: webhookDeliverySchema }),
          example: { delivery: redeliveryExample },
        },
      },
      errors: ['CONFLICT'],
    },
    async ({ context, params }) => accepted({ delivery: await redeliver(context, deliveryIn(params)) }),
  ),
  defineRoute(
    {
      method: 'post',
      path: '/api/workspaces/{workspaceId}/webhooks/deliveries/{deliveryId}/cancel',
      operationId: 'cancelWebhookDelivery',
      summary: 'Cancel a webhook delivery',
      description:
        'Ends a delivery that has not ended as `failed`, with its attempts as they are; an attempt that is under way ' +
        'may still arrive. One that has ended is 409 `delivery_ended`.',
      tags: ['Webhooks'],
      scope: 'workspace',
      permissions: ['integrations.delete'],
      responses: {
        200: {
          description: 'The delivery as it ended.',
          schema: z.object({ delivery: webhookDeliverySchema }),
          example: { delivery: cancelledExample },
        },
      },
      errors: ['CONFLICT'],
    },
    async ({ context, params }) =>
      ok({ delivery: await cancelDelivery({ ...context, runCanceller }, deliveryIn(params)) }),
  ),
];

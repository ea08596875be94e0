import { EVENT_TYPES } from '../../events/catalog.ts';
import { defineRoute, type RouteModule } from '../../http/route.ts';
import { pathId } from '../../http/scope.ts';
import { accepted, created, DONE, doneResponses, ok } from '../../http/success.ts';
import type { EndpointId } from '../../ids.ts';
import type { AddressGuard } from '../../outbound/resolver.ts';
import { listOpenDeliveries } from '../deliveries/read.ts';
import { redeliverRange } from '../deliveries/redeliver-range.ts';
import {
  deliveryExample,
  endpointExample,
  listedEndpointExample,
  openDeliveryExample,
  pingExample,
  registrationExample,
  secretExample,
} from '../examples.ts';
import {
  listOpenDeliveriesQuery,
  listWebhooksQuery,
  openDeliveryListSchema,
  pingResultSchema,
  redeliverRangeBody,
  redeliverRangeSchema,
  registerEndpointBody,
  registeredEndpointSchema,
  testBody,
  webhookListSchema,
} from '../schemas.ts';
import type { SecretRing } from '../secrets/ring.ts';
import type { WebhookSender } from '../sending/sender.ts';
import { deleteEndpoint } from './delete.ts';
import { listWebhooks } from './list.ts';
import { pingEndpoint } from './ping.ts';
import { registerEndpoint } from './register.ts';
import type { RunCanceller } from './run-canceller.ts';

const endpointIn = (params: { readonly endpointId: string }): EndpointId =>
  pathId(params.endpointId, 'webhook endpoint');

export interface EndpointRouteDependencies {
  /** Judges URLs at registration. */
  readonly guard: AddressGuard;
  /** Sends pings, as the worker sends deliveries. */
  readonly sender: WebhookSender;
  /** Encrypts new secrets, and decrypts them for pings. */
  readonly secrets: SecretRing;
  /** Cancels the runs of deleted endpoints. The process closes it before its connection. */
  readonly runCanceller: RunCanceller;
}

/** contract.md W, and operating an endpoint. */
export const createEndpointRoutes = ({
  guard,
  sender,
  secrets,
  runCanceller,
}: EndpointRouteDependencies): RouteModule[] => [
  defineRoute(
    {
      method: 'get',
      path: '/api/workspaces/{workspaceId}/webhooks',
      operationId: 'listWebhooks',
      // 100 endpoints, and 50 deliveries with the texts of all their responses.
      responseBytes: 2 * 1024 * 1024,
      summary: 'List webhook endpoints and recent deliveries',
      description:
        'Every endpoint of the workspace, its 50 most recent deliveries over all endpoints, and the names of ' +
        'all subscribable events. Secrets are never listed.',
      tags: ['Webhooks'],
      scope: 'workspace',
      permissions: ['integrations.read'],
      query: listWebhooksQuery,
      responses: {
        200: {
          description: 'Endpoints, deliveries and the event catalog.',
          schema: webhookListSchema,
          example: {
            endpoints: [listedEndpointExample],
            deliveries: [deliveryExample],
            events: EVENT_TYPES,
          },
        },
      },
    },
    async ({ context, query }) => ok(await listWebhooks(context, query)),
  ),
  defineRoute(
    {
      method: 'post',
      path: '/api/workspaces/{workspaceId}/webhooks',
      operationId: 'registerWebhook',
      summary: 'Register a webhook endpoint',
      description:
        'The endpoint is active at once and receives a signed POST for each subscribed event. The URL may not ' +
        'lead to a loopback, private or otherwise internal address; it is checked again on every delivery, so a ' +
        'name that does not resolve yet is accepted. An endpoint cannot be edited: delete it and register another. ' +
        'A workspace with 100 endpoints gets 409 `endpoint_limit`.',
      tags: ['Webhooks'],
      scope: 'workspace',
      permissions: ['integrations.create'],
      body: registerEndpointBody,
      bodyExample: registrationExample,
      responses: {
        201: {
          description: 'The endpoint and its signing secret, shown this once.',
          schema: registeredEndpointSchema,
          example: { endpoint: endpointExample, secret: secretExample },
        },
      },
      errors: ['CONFLICT'],
    },
    async ({ context, body }) => created(await registerEndpoint({ ...context, guard, secrets }, body)),
  ),
  defineRoute(
    {
      method: 'delete',
      path: '/api/workspaces/{workspaceId}/webhooks/{endpointId}',
      operationId: 'deleteWebhook',
      summary: 'Delete a webhook endpoint',
      description:
        'Removes the endpoint and its delivery log: neither is shown any more. Deliveries that wait, for their first ' +
        'attempt or a retry, are not sent; an attempt that has begun may still arrive.',
      tags: ['Webhooks'],
      scope: 'workspace',
      permissions: ['integrations.delete'],
      responses: doneResponses('Deleted.'),
    },
    async ({ context, params }) => {
      await deleteEndpoint({ ...context, runCanceller }, endpointIn(params));
      return DONE;
    },
  ),
  defineRoute(
    {
      method: 'get',
      path: '/api/workspaces/{workspaceId}/webhooks/{endpointId}/deliveries',
      operationId: 'listOpenWebhookDeliveries',
      summary: 'List the open deliveries of an endpoint',
      description:
        'The deliveries that are neither delivered nor given up, the earliest due first, 100 at most, ' +
        'with the run that has each of them.',
      tags: ['Webhooks'],
      scope: 'workspace',
      permissions: ['integrations.read'],
      query: listOpenDeliveriesQuery,
      responses: {
        200: {
          description: 'The open deliveries.',
          schema: openDeliveryListSchema,
          example: { deliveries: [openDeliveryExample] },
        },
      },
    },
    async ({ context, params }) => ok({ deliveries: await listOpenDeliveries(context, endpointIn(params)) }),
  ),
  defineRoute(
    {
      method: 'post',
      path: '/api/workspaces/{workspaceId}/webhooks/{endpointId}/test',
      operationId: 'testWebhook',
      summary: 'Send a test event to an endpoint',
      description:
        'Sends `{ "event": "ping", "data": { "endpointId", "workspaceId" } }`, or with `event` an example of that event, once, signed like every delivery, ' +
        'and returns the outcome, after 15 seconds at the latest. It is neither logged as a delivery nor ' +
        'retried. A disabled endpoint is 409 `endpoint_disabled`; a workspace has at most 20 in flight in ' +
        'a process, and a further one is 429.',
      tags: ['Webhooks'],
      scope: 'workspace',
      permissions: ['integrations.create'],
      body: testBody,
      bodyOptional: true,
      bodyExample: { event: 'article.published' },
      responses: {
        200: {
          description: 'The result, failures of the receiver included.',
          schema: pingResultSchema,
          example: pingExample,
        },
      },
      errors: ['CONFLICT'],
    },
    async ({ context, params, body }) =>
      ok(await pingEndpoint({ ...context, sender, secrets }, endpointIn(params), body?.event)),
  ),
  defineRoute(
    {
      method: 'post',
      path: '/api/workspaces/{workspaceId}/webhooks/{endpointId}/redeliver',
      operationId: 'redeliverFailedWebhooks',
      summary: 'Redeliver what failed, or all of a time',
      description:
        'Queues a new delivery, with a new id and the same body, for every event whose latest delivery to the endpoint was ' +
        'queued in the given time and has failed for good (or, with `status`, has succeeded), oldest first. At most 10,000 are ' +
        'queued: `nextCursor` goes on with the rest, and no repeat queues one twice. With `dryRun` they are only counted. A ' +
        'disabled endpoint is 409 `endpoint_disabled`; one with 10,000 open deliveries is 429 until fewer are left.',
      tags: ['Webhooks'],
      scope: 'workspace',
      permissions: ['integrations.create'],
      body: redeliverRangeBody,
      bodyExample: { since: '2026-11-21T06:00:00Z', until: '2026-11-21T09:00:00Z', dryRun: false },
      responses: {
        202: {
          description: 'How many deliveries were queued.',
          schema: redeliverRangeSchema,
          example: { count: 12, nextCursor: null },
        },
      },
      errors: ['CONFLICT', 'RATE_LIMITED'],
    },
    async ({ context, params, body }) => accepted(await redeliverRange(context, endpointIn(params), body)),
  ),
];

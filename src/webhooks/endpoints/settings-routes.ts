import { z } from 'zod';
import { defineRoute, type RouteModule } from '../../http/route.ts';
import { pathId } from '../../http/scope.ts';
import { created, DONE, doneResponses, ok } from '../../http/success.ts';
import type { EndpointId } from '../../ids.ts';
import { healthExample, listedEndpointExample, secretExample } from '../examples.ts';
import { readHealth } from '../health/read.ts';
import {
  endpointHealthSchema,
  endpointSettingsBody,
  rotatedSecretSchema,
  rotateSecretBody,
  webhookEndpointSchema,
} from '../schemas.ts';
import type { SecretRing } from '../secrets/ring.ts';
import { pauseEndpoint, resumeEndpoint } from './pause.ts';
import { activateSecret, rotateSecret } from './rotate-secret.ts';
import { putSettings } from './settings.ts';

const endpointIn = (params: { readonly endpointId: string }): EndpointId =>
  pathId(params.endpointId, 'webhook endpoint');

const shownEndpoint = (description: string, endpoint: object) => ({
  description,
  schema: z.object({ endpoint: webhookEndpointSchema }),
  example: { endpoint },
});

/** What can be changed of an endpoint: its secret, and how it is sent to; and how it fares. */
export const createSettingsRoutes = (secrets: SecretRing): RouteModule[] => [
  defineRoute(
    {
      method: 'post',
      path: '/api/workspaces/{workspaceId}/webhooks/{endpointId}/rotate-secret',
      operationId: 'rotateWebhookSecret',
      summary: 'Rotate the signing secret of an endpoint',
      description:
        'Makes a new secret. Until the overlap ends, or `…/activate-secret` ends it, `x-service-signature` is made with the ' +
        'old secret and `webhook-signature` has two signatures, of the new secret and of the old one. Then the new secret ' +
        'alone signs. While a rotation is open another one is 409 `rotation_open`.',
      tags: ['Webhooks'],
      scope: 'workspace',
      permissions: ['integrations.create'],
      body: rotateSecretBody,
      bodyExample: { overlapHours: 24 },
      responses: {
        201: {
          description: 'The new secret, shown this once.',
          schema: rotatedSecretSchema,
          example: { secret: secretExample, activeAt: '2026-11-22T07:30:00.000Z' },
        },
      },
      errors: ['CONFLICT'],
    },
    async ({ context, params, body }) =>
      created(await rotateSecret({ ...context, secrets }, { endpointId: endpointIn(params), ...body })),
  ),
  defineRoute(
    {
      method: 'post',
      path: '/api/workspaces/{workspaceId}/webhooks/{endpointId}/activate-secret',
      operationId: 'activateWebhookSecret',
      summary: 'End the overlap of a rotation',
      description:
        'From now on the new secret alone signs. Without an open rotation this is 409 `no_rotation`.',
      tags: ['Webhooks'],
      scope: 'workspace',
      permissions: ['integrations.create'],
      responses: doneResponses('The new secret signs.'),
      errors: ['CONFLICT'],
    },
    async ({ context, params }) => {
      await activateSecret({ ...context, secrets }, endpointIn(params));
      return DONE;
    },
  ),
  defineRoute(
    {
      method: 'put',
      path: '/api/workspaces/{workspaceId}/webhooks/{endpointId}/settings',
      operationId: 'putWebhookSettings',
      summary: 'Replace the settings of an endpoint',
      description:
        "The description, a limit of requests a second, and custom headers, such as a token that the receiver's gateway asks for. " +
        "The URL and the events of an endpoint can't be changed.",
      tags: ['Webhooks'],
      scope: 'workspace',
      permissions: ['integrations.create'],
      body: endpointSettingsBody,
      bodyExample: {
        description: listedEndpointExample.description,
        rateLimit: null,
        headers: { authorization: 'Bearer of-the-receiver' },
      },
      responses: { 200: shownEndpoint('The endpoint as the list shows it.', listedEndpointExample) },
    },
    async ({ context, params, body }) =>
      ok({ endpoint: await putSettings({ ...context, secrets }, endpointIn(params), body) }),
  ),
  defineRoute(
    {
      method: 'post',
      path: '/api/workspaces/{workspaceId}/webhooks/{endpointId}/pause',
      operationId: 'pauseWebhook',
      summary: 'Pause an endpoint',
      description:
        'Nothing more is sent to it until it is resumed, except by an attempt that has begun, or a test. It stays active: ' +
        'events go on queueing. A disabled endpoint is 409 `endpoint_disabled`.',
      tags: ['Webhooks'],
      scope: 'workspace',
      permissions: ['integrations.create'],
      responses: {
        200: shownEndpoint('The endpoint, paused.', {
          ...listedEndpointExample,
          pausedAt: '2026-11-21T09:30:00.000Z',
        }),
      },
      errors: ['CONFLICT'],
    },
    async ({ context, params }) => ok({ endpoint: await pauseEndpoint(context, endpointIn(params)) }),
  ),
  defineRoute(
    {
      method: 'post',
      path: '/api/workspaces/{workspaceId}/webhooks/{endpointId}/resume',
      operationId: 'resumeWebhook',
      summary: 'Resume an endpoint',
      description:
        'Ends a pause, and what was queued meanwhile is sent. Also enables an endpoint that was disabled because nothing could ' +
        'be delivered to it; what failed meanwhile can be redelivered. One that the operator has disabled is 409 ' +
        '`endpoint_disabled`.',
      tags: ['Webhooks'],
      scope: 'workspace',
      permissions: ['integrations.create'],
      responses: { 200: shownEndpoint('The endpoint, active and not paused.', listedEndpointExample) },
      errors: ['CONFLICT'],
    },
    async ({ context, params }) => ok({ endpoint: await resumeEndpoint(context, endpointIn(params)) }),
  ),
  defineRoute(
    {
      method: 'get',
      path: '/api/workspaces/{workspaceId}/webhooks/{endpointId}/health',
      operationId: 'readWebhookHealth',
      summary: 'Read the health of an endpoint',
      description:
        'When something was delivered last, since when deliveries fail, the attempts of a day, and what waits. The figures are ' +
        'about ten seconds old. An endpoint to which nothing could be delivered for five days, while at least 20 deliveries ' +
        'failed, is disabled. One with very much to get is `behind`, and gets it from the event log; what waited too long there is ' +
        '`missed`.',
      tags: ['Webhooks'],
      scope: 'workspace',
      permissions: ['integrations.read'],
      responses: {
        200: {
          description: 'The health of the endpoint.',
          schema: z.object({ health: endpointHealthSchema }),
          example: { health: healthExample },
        },
      },
    },
    async ({ context, params }) => ok({ health: await readHealth(context, endpointIn(params)) }),
  ),
];

import { defineRoute, type RouteModule } from '../../http/route.ts';
import { pathId } from '../../http/scope.ts';
import { created, DONE, doneResponses } from '../../http/success.ts';
import type { EndpointId } from '../../ids.ts';
import { secretExample } from '../examples.ts';
import { rotatedSecretSchema, rotateSecretBody } from '../schemas.ts';
import type { SecretRing } from '../secrets/ring.ts';
import { activateSecret, rotateSecret } from './rotate-secret.ts';

const endpointIn = (params: { readonly endpointId: string }): EndpointId =>
  pathId(params.endpointId, 'webhook endpoint');

/** What can be changed of an endpoint: its secret, and how it is sent to. */
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
];

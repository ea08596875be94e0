/** Values of the OpenAPI examples, shared so that they agree. */
const ENDPOINT_ID = '7f9c24e8-3b12-4fef-91e0-5b3f6f2f3a11';
const DELIVERY_ID = '3f0f7d0a-6a4e-4f0e-9d55-0d7c1f6c2f11';

export const endpointExample = {
  id: ENDPOINT_ID,
  url: 'https://example.com/hooks/content',
  events: ['article.published', 'article.updated', 'article.unpublished'],
  active: true,
  createdAt: '2026-11-21T07:30:00.000Z',
};

export const registrationExample = {
  url: endpointExample.url,
  events: endpointExample.events,
  description: 'Rebuilds the public site',
};

/** What the list shows beside. */
export const listedEndpointExample = {
  ...endpointExample,
  description: 'Rebuilds the public site',
  pausedAt: null,
  disabledFor: null,
  rateLimit: null,
  headers: ['authorization'],
  rotationEndsAt: null,
};

export const healthExample = {
  status: 'ok',
  lastSuccessAt: '2026-11-21T09:12:40.311Z',
  failingSince: null,
  failedDeliveries: 0,
  disabledFrom: null,
  day: { attempts: 1_204, succeeded: 1_198, successRate: 0.995, p95Ms: 210 },
  open: 2,
  nextAttemptAt: '2026-11-21T09:13:11.402Z',
  behind: null,
  missed: { from: '2026-11-14T02:10:00.000Z', to: '2026-11-14T05:31:12.771Z' },
};

/** Words instead of random text, so that no scanner takes it for a real secret. */
export const secretExample = 'whsec_example+example+example+example+example+ex0=';

export const deliveryExample = {
  id: DELIVERY_ID,
  endpointId: ENDPOINT_ID,
  eventType: 'article.published',
  status: 'failed',
  attempts: 1,
  responseStatus: 503,
  errorMessage: 'The receiver responded with 503.',
  deliveredAt: null,
  createdAt: '2026-11-21T09:12:41.120Z',
};

export const listedDeliveryExample = {
  ...deliveryExample,
  eventId: '019a9d3c-1c50-7a3e-9b1f-4d2e6c8a0b15',
  nextAttemptAt: '2026-11-21T09:13:11.402Z',
};

export const openDeliveryExample = {
  ...deliveryExample,
  nextAttemptAt: '2026-11-21T09:13:11.402Z',
  workflowId: `webhook-delivery-${DELIVERY_ID}`,
};

export const deliveryDetailExample = {
  ...openDeliveryExample,
  body: '{"event":"article.published","data":{"articleId":"c1b7f5f0-6d0e-4a0b-8f58-0f3d5d7f8e21","workspaceId":"5e0c8a2e-1f0b-4c52-8d0a-95f6c9f4a7d3","projectId":"0b8b1a34-54a1-4a5f-9a0f-3c1f9d8e7b60","slug":"hello-world","status":"PUBLISHED","primaryLanguage":"en","translationGroupId":"b9d6c1a2-7e35-4f61-8a90-2d4c6e8f1a35","title":"Hello, world"}}',
  attemptLog: [
    {
      number: 1,
      startedAt: '2026-11-21T09:12:41.180Z',
      durationMs: 222,
      responseStatus: 503,
      errorMessage: 'The receiver responded with 503.',
      responseBody: 'try again later',
    },
  ],
};

export const cancelledExample = { ...deliveryExample, errorMessage: 'cancelled' };

export const redeliveryExample = {
  ...deliveryExample,
  id: '91d0c2b4-8a7e-4e16-b6a3-5f2c7d9e0a48',
  status: 'pending',
  attempts: 0,
  responseStatus: null,
  errorMessage: null,
  createdAt: '2026-11-21T10:02:05.317Z',
};

export const pingExample = {
  delivered: true,
  responseStatus: 204,
  errorMessage: null,
  durationMs: 87,
  responseBody: '',
};

import { z } from 'zod';
import type { DeliveryStatus } from '../db/tables.ts';
import { eventName } from '../events/schemas.ts';
import { dateTime, idOf, shortText, timestamp, urlText } from '../fields.ts';
import type { DeliveryId, EndpointId } from '../ids.ts';

const DELIVERY_STATUSES = ['pending', 'succeeded', 'failed'] as const satisfies readonly DeliveryStatus[];
const MAX_DESCRIPTION = 500;
/** Far more than there are; repeats are stored once. */
const MAX_EVENTS = 100;

const endpointFields = {
  id: idOf<EndpointId>(),
  url: z
    .string()
    .meta({ format: 'uri', description: 'Receives the signed POST, normalised by the WHATWG URL rules.' }),
  events: z.array(eventName).meta({ description: 'In the order given at registration, each once.' }),
  active: z.boolean().meta({ description: 'Deliveries are queued only for active endpoints.' }),
  createdAt: timestamp,
};

/** contract.md W3, as the list shows it. The secret is never part of it. */
const webhookEndpointSchema = z
  .object({ ...endpointFields, description: z.string().meta({ description: 'Empty when none was given.' }) })
  .meta({ id: 'WebhookEndpoint' });

export const registerEndpointBody = z.object({
  url: urlText.meta({
    description: 'http or https, without user name and password, leading to public addresses only.',
    examples: ['https://example.com/hooks/content'],
  }),
  events: z
    .array(eventName)
    .min(1, 'Expected at least one event.')
    .max(MAX_EVENTS, `Expected at most ${MAX_EVENTS} events.`)
    .meta({ description: 'A repeated name is stored once.' }),
  description: shortText(0, MAX_DESCRIPTION).optional(),
});

/** The only response that holds a secret. */
export const registeredEndpointSchema = z
  .object({
    endpoint: z.object(endpointFields),
    secret: z.string().meta({
      description:
        'Signs every delivery, used as UTF-8 text with its whsec_ marker. It is shown only once and cannot be read again.',
    }),
  })
  .meta({ id: 'RegisteredWebhookEndpoint' });

const deliveryFields = {
  id: idOf<DeliveryId>().meta({ description: 'The x-service-delivery header of every attempt.' }),
  endpointId: idOf<EndpointId>(),
  eventType: eventName,
  status: z.enum(DELIVERY_STATUSES),
  attempts: z.int().min(0).max(6).meta({ description: 'Attempts made so far.' }),
  responseStatus: z.int().nullable().meta({
    description: 'HTTP status of the latest attempt; null before the first, and when there was no response.',
  }),
  errorMessage: z
    .string()
    .nullable()
    .meta({ description: 'Why the latest attempt failed; null on success and before any attempt.' }),
  deliveredAt: timestamp.nullable().meta({ description: 'When the successful attempt ended.' }),
  createdAt: timestamp.meta({ description: 'When the delivery was queued.' }),
};

/** contract.md W8. */
export const webhookDeliverySchema = z.object(deliveryFields).meta({ id: 'WebhookDelivery' });

const attemptSchema = z
  .object({
    number: z.int().min(1).max(6),
    startedAt: timestamp,
    durationMs: z.int().min(0),
    responseStatus: z.int().nullable(),
    errorMessage: z.string().nullable(),
    responseBody: z
      .string()
      .nullable()
      .meta({ description: 'The first 1 KiB of the response body; null when there was no response.' }),
  })
  .meta({ id: 'WebhookAttempt' });

const progressFields = {
  nextAttemptAt: timestamp
    .nullable()
    .meta({ description: 'When the next attempt is due; null when there will be none.' }),
  workflowId: z.string().nullable().meta({
    description:
      'The run that has it, or had it at its end, as the Temporal UI names it; null while none has.',
  }),
};

/** An open delivery, and its run. */
const openDeliverySchema = z
  .object({ ...deliveryFields, ...progressFields })
  .meta({ id: 'OpenWebhookDelivery' });

/** A delivery with everything that helps to find out why it failed. */
export const webhookDeliveryDetailSchema = z
  .object({
    ...deliveryFields,
    ...progressFields,
    body: z.string().meta({ description: 'The exact text that is signed and sent.' }),
    attemptLog: z.array(attemptSchema).meta({ description: 'Every attempt that ended, oldest first.' }),
  })
  .meta({ id: 'WebhookDeliveryDetail' });

export const listWebhooksQuery = z.object({
  deliveryStatus: z
    .enum(DELIVERY_STATUSES)
    .optional()
    .meta({ description: 'Only deliveries in this status; every status when omitted.' }),
});

export const webhookListSchema = z.object({
  endpoints: z.array(webhookEndpointSchema).meta({ description: 'Oldest first.' }),
  deliveries: z
    .array(webhookDeliverySchema)
    .max(50)
    .meta({ description: 'The 50 most recent over all endpoints, newest first.' }),
  events: z.array(eventName).meta({ description: 'Every subscribable event.' }),
});

export const listOpenDeliveriesQuery = z.object({
  status: z.enum(['open']).optional().meta({ description: 'Open ones; there is no other choice yet.' }),
});

export const openDeliveryListSchema = z.object({
  deliveries: z.array(openDeliverySchema).max(100).meta({ description: 'The earliest due first.' }),
});

export const redeliverFailedBody = z.object({
  since: dateTime.meta({ description: 'Deliveries queued at this time or later.' }),
});

export const redeliverFailedSchema = z.object({
  count: z.int().min(0).max(10_000).meta({ description: 'Deliveries that were queued.' }),
});

/** The outcome of a ping. */
export const pingResultSchema = z
  .object({
    delivered: z.boolean().meta({ description: 'True when the receiver responded with 2xx.' }),
    responseStatus: z.int().nullable().meta({ description: 'Null when there was no response.' }),
    errorMessage: z.string().nullable().meta({ description: 'Null when it was delivered.' }),
    durationMs: z.int().min(0),
    responseBody: z.string().nullable().meta({ description: 'The first 1 KiB of the response body.' }),
  })
  .meta({ id: 'WebhookPingResult' });

export type EndpointRegistration = z.infer<typeof registerEndpointBody>;
export type RegisteredEndpoint = z.infer<typeof registeredEndpointSchema>;
export type WebhookEndpoint = z.infer<typeof webhookEndpointSchema>;
export type WebhookDelivery = z.infer<typeof webhookDeliverySchema>;
export type OpenDelivery = z.infer<typeof openDeliverySchema>;
export type WebhookDeliveryDetail = z.infer<typeof webhookDeliveryDetailSchema>;
export type PingResult = z.infer<typeof pingResultSchema>;

import { z } from 'zod';
import type { DeliveryStatus, DisabledFor } from '../db/tables.ts';
import { eventName } from '../events/schemas.ts';
import { dateTime, idOf, shortText, timestamp, urlText } from '../fields.ts';
import { cursorOf, nextCursor, pageQuery } from '../http/paging.ts';
import type { DeliveryId, EndpointId, EventId } from '../ids.ts';
import { customHeaders } from './endpoints/custom-headers.ts';

const DELIVERY_STATUSES = ['pending', 'succeeded', 'failed'] as const satisfies readonly DeliveryStatus[];
const DISABLED_FOR = ['operator', 'failing'] as const satisfies readonly DisabledFor[];
const MAX_DESCRIPTION = 500;
/** Far more than there are; repeats are stored once. */
const MAX_EVENTS = 100;
const MAX_RATE_LIMIT = 1_000;
const MAX_OVERLAP_HOURS = 168;
const DEFAULT_OVERLAP_HOURS = 24;

const eventNames = z
  .array(eventName)
  .min(1, 'Expected at least one event.')
  .max(MAX_EVENTS, `Expected at most ${MAX_EVENTS} events.`);

const endpointFields = {
  id: idOf<EndpointId>(),
  url: z
    .string()
    .meta({ format: 'uri', description: 'Receives the signed POST, normalised by the WHATWG URL rules.' }),
  events: z.array(eventName).meta({ description: 'In the order given at registration, each once.' }),
  active: z.boolean().meta({ description: 'Deliveries are queued only for active endpoints.' }),
  createdAt: timestamp,
};

const SECRET_NOTE =
  'Signs every delivery: x-service-signature with its UTF-8 text, whsec_ included, webhook-signature with the bytes of its base64. ' +
  'It is shown only once and cannot be read again.';

/** contract.md W3, as the list shows it. The secret is never part of it. */
export const webhookEndpointSchema = z
  .object({
    ...endpointFields,
    description: z.string().meta({ description: 'Empty when none was given.' }),
    pausedAt: timestamp.nullable().meta({
      description: 'Since when it is paused: events are queued, and nothing is sent.',
    }),
    disabledFor: z.enum(DISABLED_FOR).nullable().meta({
      description:
        'Why it is not active: `operator`, or `failing` after five days without a delivery, which `…/resume` ends. Null while active.',
    }),
    rateLimit: z.int().nullable().meta({ description: 'Requests a second; null for no limit of its own.' }),
    headers: z.array(z.string()).meta({ description: 'Names of the custom headers, sorted.' }),
    rotationEndsAt: timestamp.nullable().meta({
      description: "When the overlap of the secret's rotation ends; null when none is open.",
    }),
  })
  .meta({ id: 'WebhookEndpoint' });

export const registerEndpointBody = z.object({
  url: urlText.meta({
    description: 'http or https, without user name and password, leading to public addresses only.',
    examples: ['https://example.com/hooks/content'],
  }),
  events: eventNames.meta({ description: 'A repeated name is stored once.' }),
  description: shortText(0, MAX_DESCRIPTION).optional(),
});

/** The first of two responses that hold a secret. */
export const registeredEndpointSchema = z
  .object({
    endpoint: z.object(endpointFields),
    secret: z.string().meta({
      description: SECRET_NOTE,
    }),
  })
  .meta({ id: 'RegisteredWebhookEndpoint' });

export const endpointSettingsBody = z.object({
  description: shortText(0, MAX_DESCRIPTION),
  rateLimit: z.int().min(1).max(MAX_RATE_LIMIT).nullable().meta({
    description: 'Requests a second at most; null for no limit of its own.',
  }),
  headers: customHeaders.optional(),
});

export const rotateSecretBody = z.object({
  overlapHours: z.int().min(0).max(MAX_OVERLAP_HOURS).default(DEFAULT_OVERLAP_HOURS).meta({
    description:
      'How long the old secret goes on signing. 0 is for a secret that has leaked: it signs nothing from now on.',
  }),
});

/** The other response that holds a secret. */
export const rotatedSecretSchema = z
  .object({
    secret: z.string().meta({ description: SECRET_NOTE }),
    activeAt: timestamp.meta({
      description:
        'When the old secret stops signing. Until then webhook-signature has both, x-service-signature the old one.',
    }),
  })
  .meta({ id: 'RotatedWebhookSecret' });

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

const listedDeliverySchema = z
  .object({
    ...deliveryFields,
    eventId: idOf<EventId>().meta({ description: 'The webhook-id header of every delivery of the event.' }),
    nextAttemptAt: timestamp
      .nullable()
      .meta({ description: 'When the next attempt is due; null when there will be none.' }),
  })
  .meta({ id: 'ListedWebhookDelivery' });

export const listDeliveriesQuery = pageQuery.extend({
  endpointId: idOf<EndpointId>().optional(),
  eventType: eventName.optional(),
  status: z.enum(DELIVERY_STATUSES).optional(),
  since: dateTime.optional().meta({ description: 'Deliveries queued at this time or later.' }),
  until: dateTime.optional().meta({ description: 'Deliveries queued before this time.' }),
});

export const deliveryPageSchema = z.object({
  deliveries: z.array(listedDeliverySchema).max(100).meta({
    description:
      'Newest first. Where a filter leaves little there may be fewer than `limit`, or none, and more pages.',
  }),
  nextCursor,
});

export const endpointHealthSchema = z
  .object({
    status: z.enum(['ok', 'failing', 'warning', 'paused', 'disabled']).meta({
      description:
        '`failing` since a delivery has ended failed and none succeeded, `warning` after 48 hours of that: it will be disabled.',
    }),
    lastSuccessAt: timestamp.nullable(),
    failingSince: timestamp
      .nullable()
      .meta({ description: 'When the first delivery since the last success ended failed.' }),
    failedDeliveries: z.int().meta({ description: 'Deliveries that ended failed since then.' }),
    disabledFrom: timestamp.nullable().meta({
      description:
        'With a warning: from when on it is disabled, once 20 deliveries have ended failed, unless one succeeds before.',
    }),
    day: z
      .object({
        attempts: z.int(),
        succeeded: z.int(),
        successRate: z.number().nullable().meta({ description: '0 to 1; null without attempts.' }),
        p95Ms: z.int().nullable().meta({
          description: 'What 95 in 100 attempts took at most, in milliseconds; up to a quarter too long.',
        }),
      })
      .meta({ description: 'Of the last 24 hours.' }),
    open: z
      .int()
      .max(10_000)
      .meta({ description: 'Deliveries that have not ended; 10,000 for that many or more.' }),
    nextAttemptAt: timestamp
      .nullable()
      .meta({ description: 'Null when nothing waits, or nothing is sent now.' }),
    behind: z
      .object({
        since: timestamp,
        events: z.int().min(0).meta({
          description:
            'Events of the workspace in the log, of every name, that its queue has not reached yet.',
        }),
      })
      .nullable()
      .meta({
        description:
          'While more events wait for it than deliveries are kept open: the rest is queued from the event log, in its order.',
      }),
    missed: z
      .object({ from: timestamp, to: timestamp })
      .nullable()
      .meta({
        description:
          'The time range in which some events were never queued for it, since they had waited too long or it was disabled. ' +
          'Send it as `since` and `until`, with `status: missed`, to redeliver them.',
      }),
  })
  .meta({ id: 'WebhookEndpointHealth' });

const attemptNote = z.string().optional().meta({
  description: '`redirected to http` when a redirect led from https to http; absent otherwise.',
});

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
    note: attemptNote,
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

export const redeliverRangeBody = z.object({
  since: dateTime.meta({ description: 'Deliveries queued at this time or later.' }),
  until: dateTime.optional().meta({ description: 'Deliveries queued before this time.' }),
  events: eventNames.optional().meta({ description: 'Of these events; of all when left out.' }),
  status: z
    .enum(['failed', 'succeeded', 'missed'])
    .default('failed')
    .meta({
      description:
        '`succeeded` is for a receiver that lost what it had: each event whose latest delivery has succeeded. `missed` queues ' +
        'events of that time that were never queued for the endpoint: `missed` of its health.',
    }),
  dryRun: z.boolean().default(false).meta({ description: 'Only counts; nothing is queued.' }),
  cursor: cursorOf('The nextCursor of the request before, to go on with the rest.'),
});

export const redeliverRangeSchema = z.object({
  count: z.int().min(0).max(10_000).meta({ description: 'Deliveries that were queued, or would be.' }),
  nextCursor: z.string().nullable().meta({
    description: 'Null when nothing of the range is left; the count may be 0 before.',
  }),
});

export const testBody = z.object({
  event: eventName.optional().meta({ description: 'Sends an example of this event instead of `ping`.' }),
});

/** The outcome of a ping. */
export const pingResultSchema = z
  .object({
    delivered: z.boolean().meta({ description: 'True when the receiver responded with 2xx.' }),
    responseStatus: z.int().nullable().meta({ description: 'Null when there was no response.' }),
    errorMessage: z.string().nullable().meta({ description: 'Null when it was delivered.' }),
    durationMs: z.int().min(0),
    responseBody: z.string().nullable().meta({ description: 'The first 1 KiB of the response body.' }),
    note: attemptNote,
  })
  .meta({ id: 'WebhookPingResult' });

export type EndpointRegistration = z.infer<typeof registerEndpointBody>;
export type RegisteredEndpoint = z.infer<typeof registeredEndpointSchema>;
export type EndpointSettings = z.infer<typeof endpointSettingsBody>;
export type RotatedSecret = z.infer<typeof rotatedSecretSchema>;
export type WebhookEndpoint = z.infer<typeof webhookEndpointSchema>;
export type WebhookDelivery = z.infer<typeof webhookDeliverySchema>;
export type RangeRedelivery = z.infer<typeof redeliverRangeBody>;
export type EndpointHealth = z.infer<typeof endpointHealthSchema>;
export type DeliveryPage = z.infer<typeof deliveryPageSchema>;
export type OpenDelivery = z.infer<typeof openDeliverySchema>;
export type WebhookDeliveryDetail = z.infer<typeof webhookDeliveryDetailSchema>;
export type PingResult = z.infer<typeof pingResultSchema>;

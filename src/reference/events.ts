import { EVENT_TYPES } from '../events/catalog.ts';
import { EVENT_EXAMPLES } from '../events/examples.ts';
import { code, jsonBlock } from './text.ts';

export const EVENTS_ID = 'webhook-events';

/** The webhook events, with examples. */
export function eventsSection(): string {
  const blocks = EVENT_TYPES.map(
    (event) => `<h3>${event}</h3>${jsonBlock(`Body of ${event}`, { event, data: EVENT_EXAMPLES[event] })}`,
  );
  return (
    `<section class="area" id="${EVENTS_ID}" aria-labelledby="${EVENTS_ID}-title">` +
    `<h2 id="${EVENTS_ID}-title">Webhook events</h2>` +
    `<p>Each is a POST to the endpoint's URL, signed in ${code('x-service-signature')} (${code('t=<unix seconds>,v1=<hex>')}: ` +
    `HMAC-SHA256 of the timestamp, a dot and the raw body, with the endpoint's secret as key) and in ${code('webhook-signature')} as ` +
    `Standard Webhooks has it. ${code('webhook-id')} is the event's, the same in every redelivery: deduplicate on it, or on ` +
    `${code('x-service-delivery')}, which is the same on every attempt of one delivery. Any 2xx is success; 5xx, 429, network errors and timeouts are ` +
    `tried six times in all, after 30 s, 1, 2, 4 and 8 minutes.</p>` +
    `<p>Respond with 2xx to events you do not know.</p>` +
    `<div class="grid">${blocks.map((html) => `<div>${html}</div>`).join('')}</div></section>`
  );
}

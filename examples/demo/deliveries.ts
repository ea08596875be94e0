import { setTimeout as sleep } from 'node:timers/promises';
import { type WebhookDelivery, webhookListSchema } from '../../src/webhooks/schemas.ts';
import { check } from './check.ts';
import type { Findings } from './findings.ts';
import type { DemoReceiver, GenuineWebhook } from './receiver.ts';

const TIMEOUT_MS = 60_000;
/** How long a delivery too many is waited for once all are there. */
const SETTLE_MS = 500;

/** A delivery as the receiver got it and as the service lists it. */
export interface Delivered {
  readonly received: GenuineWebhook;
  readonly delivery: WebhookDelivery;
}

/**
 * Waits until each of the two new articles was announced, and insists that each was announced once, with a genuine
 * signature, and that the service's log says the same.
 */
export async function checkDeliveries(
  { api, workspaceId, source, target }: Pick<Findings, 'api' | 'workspaceId' | 'source' | 'target'>,
  receiver: DemoReceiver,
  signal: AbortSignal,
): Promise<Delivered[]> {
  const articles = [source, target];
  const list = () =>
    api({
      method: 'GET',
      path: `/api/workspaces/${workspaceId}/webhooks`,
      expect: 200,
      answer: webhookListSchema,
    });
  const deadline = Date.now() + TIMEOUT_MS;
  let { deliveries } = await list();
  while (
    receiver.received.length < articles.length ||
    deliveries.some(({ status }) => status !== 'succeeded')
  ) {
    check(
      Date.now() < deadline,
      `${receiver.received.length} of ${articles.length} webhooks came in a minute.`,
    );
    await sleep(50, undefined, { signal });
    ({ deliveries } = await list());
  }
  await sleep(SETTLE_MS, undefined, { signal });
  const { received } = receiver;
  check(
    received.length === articles.length && deliveries.length === articles.length,
    `${received.length} requests came for ${deliveries.length} deliveries; ${articles.length} were expected.`,
  );
  for (const entry of received)
    check(entry.genuine, `a webhook is not genuine: ${entry.genuine || entry.why}`);
  const genuine = received.filter((entry) => entry.genuine);
  return articles.map((article) => {
    const [entry, ...others] = genuine.filter(({ webhook }) => webhook.data.articleId === article.id);
    check(
      entry !== undefined && others.length === 0,
      `article ${article.id} was not announced exactly once.`,
    );
    const { webhook } = entry;
    check(webhook.event === 'article.created', `the webhook for ${article.id} is ${webhook.event}.`);
    check(
      webhook.data.projectId === article.projectId,
      `the webhook names project ${webhook.data.projectId}.`,
    );
    const delivery = deliveries.find(({ id }) => id === webhook.deliveryId);
    check(
      delivery?.status === 'succeeded' && delivery.attempts === 1 && delivery.responseStatus === 204,
      `the service lists delivery ${webhook.deliveryId} as ${JSON.stringify(delivery)}.`,
    );
    return { received: entry, delivery };
  });
}

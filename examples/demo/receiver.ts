import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { errorMessage } from '../../src/error-text.ts';
import { LOOPBACK } from '../../src/ports.ts';
import { type VerifiedWebhook, verifyWebhook } from '../../src/webhooks/verify.ts';
import type { Article, WebhookDelivery } from '../client/api.ts';
import { check, until } from './check.ts';

/** How long a delivery too many is waited for once all are there. */
const SETTLE_MS = 500;

/** Anything that came; `webhook` is null when it is not genuine, for the reason `why`. */
export interface Received {
  /** The header x-service-signature. */
  readonly signature: string;
  readonly raw: string;
  readonly webhook: VerifiedWebhook | null;
  readonly why: string;
}

export interface DemoReceiver {
  readonly url: string;
  /** Everything that came, oldest first. */
  readonly received: readonly Received[];
  /** What registration returned; nothing is accepted before it is set. */
  secret: string;
  onReceived: (received: Received) => void;
  close(): Promise<void>;
}

/** A webhook receiver as an integrator would write it: it verifies the raw body, then answers 204 or 400. */
export async function startReceiver(): Promise<DemoReceiver> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    let webhook: VerifiedWebhook | null = null;
    let why = '';
    try {
      webhook = verifyWebhook(body, request.headers, receiver.secret);
    } catch (error) {
      why = errorMessage(error);
    }
    response.writeHead(webhook === null ? 400 : 204).end();
    const entry = {
      signature: String(request.headers['x-service-signature']),
      raw: body.toString(),
      webhook,
      why,
    };
    received.push(entry);
    receiver.onReceived(entry);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, LOOPBACK, resolve);
  });
  const receiver: DemoReceiver = {
    url: `http://${LOOPBACK}:${(server.address() as AddressInfo).port}/webhooks`,
    received,
    secret: '',
    onReceived: () => undefined,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}

/** A delivery as the receiver got it and as the service lists it. */
export interface Delivered {
  readonly received: Received;
  readonly delivery: WebhookDelivery;
}

/**
 * Waits until each of the new articles was announced, and insists that each was announced once, with a genuine
 * signature, and that the service's log, which `list` reads, says the same.
 */
export async function checkDeliveries(
  { received }: DemoReceiver,
  articles: readonly Article[],
  list: () => Promise<WebhookDelivery[]>,
): Promise<Delivered[]> {
  await until(
    `${articles.length} webhooks`,
    async () =>
      received.length >= articles.length && (await list()).every(({ status }) => status === 'succeeded'),
  );
  await sleep(SETTLE_MS);
  const deliveries = await list();
  check(
    received.length === articles.length && deliveries.length === articles.length,
    `${received.length} requests came for ${deliveries.length} deliveries; ${articles.length} were expected.`,
  );
  for (const { webhook, why } of received) check(webhook !== null, `a webhook is not genuine: ${why}`);
  return articles.map(({ id, projectId }) => {
    const entry = received.find(({ webhook }) => webhook?.data.articleId === id);
    check(
      entry?.webhook?.event === 'article.created' && entry.webhook.data.projectId === projectId,
      `article ${id} was announced by ${JSON.stringify(entry)}.`,
    );
    const delivery = deliveries.find((one) => one.id === entry.webhook?.deliveryId);
    check(
      delivery?.attempts === 1 && delivery.responseStatus === 204,
      `the service lists the delivery of article ${id} as ${JSON.stringify(delivery)}.`,
    );
    return { received: entry, delivery };
  });
}

/**
 * Waits until the events of one article are there, and insists that these came and no others, each once, with a genuine
 * signature, and that the service's log, which `list` reads, has all of them delivered.
 * @returns them in the order of `expected`
 */
export async function checkEvents(
  { received }: DemoReceiver,
  articleId: string,
  expected: readonly (readonly [event: string, data: object])[],
  list: () => Promise<WebhookDelivery[]>,
): Promise<Received[]> {
  const own = () => received.filter(({ webhook }) => webhook?.data.articleId === articleId);
  await until(
    `${expected.length} webhooks`,
    async () =>
      own().length >= expected.length && (await list()).every(({ status }) => status === 'succeeded'),
  );
  await sleep(SETTLE_MS);
  for (const { webhook, why } of received) check(webhook !== null, `a webhook is not genuine: ${why}`);
  check(own().length === expected.length, `${own().length} events came; ${expected.length} were expected.`);
  return expected.map(([event, data]) => {
    const found = own().filter(
      ({ webhook }) => webhook?.event === event && isDeepStrictEqual(webhook.data, data),
    );
    const [one] = found;
    check(
      one !== undefined && found.length === 1,
      `${event} ${JSON.stringify(data)} came ${found.length} times.`,
    );
    return one;
  });
}

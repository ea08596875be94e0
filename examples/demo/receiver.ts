import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { errorMessage } from '../../src/error-text.ts';
import { UserError } from '../../src/local/service.ts';
import { LOOPBACK } from '../../src/ports.ts';
import { type VerifiedWebhook, verifyWebhook } from '../../src/webhooks/verify.ts';
import { until } from './follow.ts';

/** A webhook whose signature is genuine. */
export interface Received {
  /** The header x-service-signature. */
  readonly signature: string;
  readonly raw: string;
  readonly webhook: VerifiedWebhook;
}

export interface DemoReceiver {
  readonly url: string;
  /** What registration returned; nothing is accepted before it is set. */
  secret: string;
  /** Called with the event of each webhook, or with why it was refused. */
  onReceived: (line: string) => void;
  /**
   * Waits until so many webhooks of an article have come.
   * @returns them, oldest first; @throws {UserError} for a signature that is not genuine
   */
  webhooksOf(articleId: string, count: number): Promise<Received[]>;
  close(): Promise<void>;
}

/** A webhook receiver as an integrator would write it: it verifies the raw body, then responds with 204 or 400. */
export async function startReceiver(): Promise<DemoReceiver> {
  const received: Received[] = [];
  let refusal: string | undefined;
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    try {
      const webhook = verifyWebhook(body, request.headers, receiver.secret);
      const signature = String(request.headers['x-service-signature']);
      received.push({ signature, raw: body.toString(), webhook });
      response.writeHead(204).end();
      receiver.onReceived(webhook.event);
    } catch (error) {
      refusal = errorMessage(error);
      response.writeHead(400).end();
      receiver.onReceived(`refused, ${refusal}`);
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, LOOPBACK, resolve);
  });
  const receiver: DemoReceiver = {
    url: `http://${LOOPBACK}:${(server.address() as AddressInfo).port}/webhooks`,
    secret: '',
    onReceived: () => undefined,
    async webhooksOf(articleId, count) {
      const own = () => received.filter(({ webhook }) => webhook.data.articleId === articleId);
      await until(`${count} webhooks`, () => own().length >= count || refusal !== undefined);
      if (refusal !== undefined) throw new UserError(`A webhook is not genuine: ${refusal}`);
      return own();
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}

import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { errorMessage } from '../../src/error-text.ts';
import { LOOPBACK } from '../../src/ports.ts';
import { type VerifiedWebhook, verifyWebhook } from '../../src/webhooks/verify.ts';

interface Request {
  /** The header x-service-signature. */
  readonly signature: string;
  readonly raw: string;
}

/** A delivery whose signature is right. */
export interface GenuineWebhook extends Request {
  readonly genuine: true;
  readonly webhook: VerifiedWebhook;
}

/** Anything that came, and whether it was genuine. */
export type Received = GenuineWebhook | (Request & { readonly genuine: false; readonly why: string });

export interface DemoReceiver {
  readonly url: string;
  /** Everything that came, oldest first. */
  readonly received: readonly Received[];
  /** What registration returned; nothing is accepted before it is set. */
  secret: string | null;
  onReceived: (received: Received) => void;
  close(): Promise<void>;
}

/** A webhook receiver as an integrator would write it: it verifies the raw body, then answers 204 or 400. */
export async function startReceiver(): Promise<DemoReceiver> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const entry = judge(await buffer(request), request, receiver.secret);
    received.push(entry);
    response.writeHead(entry.genuine ? 204 : 400).end();
    receiver.onReceived(entry);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, LOOPBACK, resolve);
  });
  const { port } = server.address() as AddressInfo;
  const receiver: DemoReceiver = {
    url: `http://${LOOPBACK}:${port}/webhooks`,
    received,
    secret: null,
    onReceived: () => undefined,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}

function judge(body: Buffer, { headers }: IncomingMessage, secret: string | null): Received {
  const shown = { signature: String(headers['x-service-signature']), raw: body.toString() };
  try {
    if (secret === null) throw new Error('it came before the endpoint was registered');
    return { ...shown, genuine: true, webhook: verifyWebhook(body, headers, secret) };
  } catch (error) {
    return { ...shown, genuine: false, why: errorMessage(error) };
  }
}

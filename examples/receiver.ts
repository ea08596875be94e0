/**
 * A webhook receiver: verifies each delivery and prints it.
 *
 *   WEBHOOK_SECRET=whsec_… node examples/receiver.ts [port]
 */
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
// Copy this file into your own receiver: it needs nothing but Node.
import { verifyWebhook, WebhookVerificationError } from '../src/webhooks/verify.ts';

const secret = process.env.WEBHOOK_SECRET ?? '';
const port = Number(process.argv[2] ?? 4000);
if (secret === '') {
  console.error('Set WEBHOOK_SECRET to the secret that the registration of this URL returned.');
  process.exit(1);
}

/** A real receiver keeps these in its database, so that they outlive a restart. */
const seen = new Set<string>();

const server = createServer(async (request, response) => {
  const rawBody = await buffer(request);
  try {
    const { event, data, deliveryId } = verifyWebhook(rawBody, request.headers, secret);
    const repeated = deliveryId !== null && seen.has(deliveryId);
    if (deliveryId !== null) seen.add(deliveryId);
    const note = repeated ? ', seen before' : '';
    console.log(`received ${event}, signature verified${note}\n  ${JSON.stringify(data)}`);
    response.writeHead(204).end();
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error;
    console.log(`refused a request: ${error.code}`);
    response.writeHead(400).end(error.code);
  }
});

server.listen(port, '127.0.0.1', () => console.log(`receiver listening on http://127.0.0.1:${port}/`));

import { expect, it } from 'vitest';
import { type DeliveryId, type EndpointId, type EventId, newId } from '../../../src/ids.ts';
import { sendSigned } from '../../../src/webhooks/attempts/attempt.ts';
import { toText } from '../../../src/webhooks/secrets/credentials.ts';
import { generateSecret } from '../../../src/webhooks/secrets/generate.ts';
import { createSecretRing } from '../../../src/webhooks/secrets/ring.ts';
import { attempted, type SendResult } from '../../../src/webhooks/sending/outcome.ts';
import type { WebhookSender } from '../../../src/webhooks/sending/sender.ts';
import { startReceiver } from '../../support/receiver.ts';
import { createCertificate } from './support/certificate.ts';
import { BODY, closing, setUpSender } from './support/sending.ts';

const secret = generateSecret();
const headers = { authorization: 'Bearer of-the-receiver', 'x-team': 'content', 'user-agent': 'own' };

/** Sends one event with custom headers, as an attempt does. */
async function send(sender: WebhookSender, url: string): Promise<SendResult> {
  const stored = toText({ secret, next: null, headers });
  const sent = await sendSigned(
    { sender, secrets: createSecretRing([]) },
    {
      eventId: newId<EventId>(),
      deliveryId: newId<DeliveryId>(),
      endpointId: newId<EndpointId>(),
      eventType: 'article.created',
      url,
      body: BODY,
    },
    async () => ({ kind: 'begun', stored }),
  );
  if (sent.kind === 'stopped' || sent.kind === 'unreadable') throw new Error(sent.kind);
  return sent;
}

// contract.md W66
it('custom headers go to the registered origin, after a redirect within it as well, and to no other one', async () => {
  const other = closing(await startReceiver());
  const receiver = closing(
    await startReceiver(({ path }, response) => {
      const location = path === '/hooks' ? '/moved' : other.url;
      response.writeHead(307, { location }).end();
    }),
  );
  const { sender } = await setUpSender();
  expect(attempted(await send(sender, receiver.url))).not.toHaveProperty('note');
  expect(receiver.received.map(({ path }) => path)).toEqual(['/hooks', '/moved']);
  for (const request of receiver.received) expect(request.headers).toMatchObject(headers);
  const [elsewhere] = other.received;
  expect(elsewhere?.headers['user-agent']).toBe('workspace-content-service');
  expect(elsewhere?.headers).not.toHaveProperty('authorization');
  expect(elsewhere?.headers).not.toHaveProperty('x-team');
  expect(elsewhere?.headers).toHaveProperty('x-service-signature');
});

// contract.md W67
it('a redirect from https to http is followed without them, and the attempt says so, whatever the response', async () => {
  const tls = createCertificate('secure.test');
  const plain = closing(await startReceiver());
  const gone = closing(await startReceiver((_request, response) => response.destroy()));
  const secure = closing(
    await startReceiver(
      ({ path }, response) => {
        response.writeHead(308, { location: path === '/gone' ? gone.url : plain.url }).end();
      },
      { tls },
    ),
  );
  const zone = { 'secure.test': [['127.0.0.1']] };
  const { sender } = await setUpSender({ zone, ca: tls.cert });
  const url = (path: string) => `https://secure.test:${secure.port}${path}`;
  expect(attempted(await send(sender, url('/')))).toMatchObject({
    verdict: 'succeeded',
    errorMessage: null,
    note: 'redirected to http',
  });
  expect(secure.received[0]?.headers).toMatchObject(headers);
  expect(plain.received[0]?.headers).not.toHaveProperty('authorization');
  expect(plain.received[0]?.raw).toEqual(BODY);
  const failed = attempted(await send(sender, url('/gone')));
  expect(failed).toMatchObject({ verdict: 'retry', responseStatus: null, note: 'redirected to http' });
});

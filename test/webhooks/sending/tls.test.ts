import { describe, expect, it } from 'vitest';
import { startReceiver } from '../../support/receiver.ts';
import { createCertificate } from './support/certificate.ts';
import { closing, expectNoResponse, expectResponded, post, setUpSender } from './support/sending.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;
const zone = { 'secure.test': [['127.0.0.1']], 'other.test': [['127.0.0.1']] };

describe('https', () => {
  it('presents the name to the receiver, checks its certificate and keeps the connection', async () => {
    const tls = createCertificate('secure.test');
    const receiver = closing(await startReceiver(undefined, { tls }));
    const { sender, dns } = await setUpSender({ zone, ca: tls.cert });
    for (let i = 0; i < 3; i += 1) {
      const outcome = await expectResponded(post(sender, `https://secure.test:${receiver.port}/`));
      expect(outcome.status).toBe(204);
    }
    expect(receiver.received.map(({ connection }) => connection)).toEqual([1, 1, 1]);
    expect(receiver.serverNames).toEqual(['secure.test']);
    expect(dns.asked).toEqual(['secure.test']);
  });

  it('sends nothing to a receiver whose certificate is for another host, expired or not trusted', async () => {
    const tls = createCertificate('secure.test');
    const expired = createCertificate('secure.test', new Date(Date.now() - 3 * DAY_MS));
    const receiver = closing(await startReceiver(undefined, { tls }));
    const expiredReceiver = closing(await startReceiver(undefined, { tls: expired }));
    const { sender } = await setUpSender({ zone, ca: `${tls.cert}${expired.cert}` });
    const { sender: distrusting } = await setUpSender({ zone });
    const refusals = [
      [sender, `https://other.test:${receiver.port}/`, 'is for another host'],
      [sender, `https://127.0.0.1:${receiver.port}/`, 'is for another host'],
      [sender, `https://secure.test:${expiredReceiver.port}/`, 'has expired'],
      [distrusting, `https://secure.test:${receiver.port}/`, 'is not trusted'],
    ] as const;
    for (const [by, url, message] of refusals) {
      const outcome = await expectNoResponse(post(by, url));
      expect(outcome.error).toBe(`The TLS certificate of the receiver ${message}.`);
    }
    expect([...receiver.received, ...expiredReceiver.received]).toEqual([]);
  });

  it('calls a receiver that speaks plain HTTP on an https URL a network error', async () => {
    const receiver = closing(await startReceiver());
    const { sender } = await setUpSender({ zone });
    const outcome = await expectNoResponse(post(sender, `https://secure.test:${receiver.port}/`));
    expect(outcome.error).toBe('The TLS handshake failed.');
  });

  it('follows a redirect from https to http and back', async () => {
    const tls = createCertificate('secure.test');
    const secure = closing(
      await startReceiver(
        ({ path }, response) => {
          if (path === '/end') response.end('ok');
          else response.writeHead(308, { location: plain.url }).end();
        },
        { tls },
      ),
    );
    const plain = closing(
      await startReceiver((_request, response) =>
        response.writeHead(308, { location: `https://secure.test:${secure.port}/end` }).end(),
      ),
    );
    const { sender } = await setUpSender({ zone, ca: tls.cert });
    const outcome = await expectResponded(post(sender, `https://secure.test:${secure.port}/`));
    expect(outcome).toMatchObject({ status: 200, redirects: 2, bodyText: 'ok' });
  });
});

import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { classify, errorMessage } from '../../../src/webhooks/sending/outcome.ts';
import { startRawReceiver, startReceiver } from '../../support/receiver.ts';
import {
  BODY,
  closing,
  expectNoResponse,
  expectResponded,
  post,
  setUpSender,
  until,
} from './support/sending.ts';

describe('one attempt', () => {
  it('posts the exact bytes with the headers it is given, a length, a user agent and HTTP/1.1 without Expect', async () => {
    const receiver = closing(await startReceiver());
    const { sender } = await setUpSender();
    const headers = { 'content-type': 'application/json', 'x-service-signature': 'fresh' };
    const outcome = await expectResponded(
      post(sender, `${receiver.url}?a=%20b#fragment`, {
        beforeWrite: async () => ({ proceed: true, headers }),
      }),
    );
    expect(outcome).toMatchObject({ status: 204, bodyText: '', redirects: 0 });
    const [request] = receiver.received;
    expect(request).toMatchObject({ method: 'POST', path: '/hooks?a=%20b', raw: BODY });
    expect(request?.headers).toEqual({
      host: `127.0.0.1:${receiver.port}`,
      connection: 'keep-alive',
      'user-agent': 'workspace-content-service',
      'content-type': 'application/json',
      'x-service-signature': 'fresh',
      'content-length': String(BODY.length),
    });
  });

  it('keeps at most 1 KiB of the response as valid text without NULs', async () => {
    const bytes = Buffer.concat([Buffer.from('a\0b\xff', 'latin1'), Buffer.from('ü'.repeat(2_000))]);
    const receiver = closing(await startReceiver((_request, response) => response.writeHead(500).end(bytes)));
    const { sender } = await setUpSender();
    const { bodyText } = await expectResponded(post(sender, receiver.url));
    expect(bodyText.startsWith('a\uFFFDb\uFFFDüü')).toBe(true);
    expect(Buffer.byteLength(bodyText)).toBeLessThanOrEqual(1_024);
    expect(bodyText.isWellFormed()).toBe(true);
    expect(bodyText.endsWith('ü')).toBe(true);
  });

  it('reaches localhost by name, and the other loopback address is not dialled unless it is allowed', async () => {
    const receiver = closing(await startReceiver());
    const { sender, dns } = await setUpSender();
    for (const host of ['localhost', 'localhost.', 'LOCALHOST', 'app.localhost']) {
      const outcome = await expectResponded(post(sender, `http://${host}:${receiver.port}/`));
      expect(outcome.status).toBe(204);
    }
    expect(dns.asked).toEqual([]);
  });
});

describe('responses that never end', () => {
  // contract.md D7
  it('calls a dripped 2xx a success a second after its headers, and closes the socket', async () => {
    const receiver = closing(
      await startReceiver((_request, response) => {
        response.writeHead(200);
        const drip = setInterval(() => response.write('.'), 20);
        response.on('close', () => clearInterval(drip));
      }),
    );
    const { sender } = await setUpSender({ timeoutMs: 30_000 });
    const outcome = await expectResponded(post(sender, receiver.url));
    expect(classify(outcome)).toBe('succeeded');
    expect(outcome.durationMs).toBeGreaterThanOrEqual(990);
    expect(outcome.durationMs).toBeLessThan(15_000);
    expect(outcome.bodyText).toMatch(/^\.{5,}$/);
    await until(() => receiver.openConnections() === 0);
  });

  it.each([
    ['an endless body', {}],
    ['a body of 200 MB', { 'content-length': String(200 * 1_024 * 1_024) }],
  ])('reads 64 KiB of %s, then closes the socket', async (_name, headers) => {
    const receiver = closing(
      await startReceiver((_request, response) => {
        response.writeHead(200, headers);
        const chunk = Buffer.alloc(256 * 1_024, 'x');
        const pump = (): void => {
          while (!response.destroyed && response.write(chunk));
        };
        response.on('drain', pump);
        pump();
      }),
    );
    const { sender } = await setUpSender({ timeoutMs: 30_000 });
    const outcome = await expectResponded(post(sender, receiver.url));
    expect(outcome).toMatchObject({ status: 200, bodyText: 'x'.repeat(1_024) });
    expect(outcome.durationMs).toBeLessThan(15_000);
    await until(() => receiver.openConnections() === 0);
    // What the sender left unread lay in the buffers of the kernel.
    expect(receiver.bytesWritten()).toBeLessThan(16 * 1_024 * 1_024);
  });

  it('gives up a receiver that never responds, and one that drips its headers', async () => {
    const silent = closing(await startRawReceiver((socket) => socket.resume()));
    const dripping = closing(
      await startRawReceiver((socket) => {
        socket.resume().write('HTTP/1.1 200 OK\r\n');
        const drip = setInterval(() => socket.write('a'), 20);
        socket.on('close', () => clearInterval(drip));
      }),
    );
    const { sender } = await setUpSender({ timeoutMs: 500 });
    for (const receiver of [silent, dripping]) {
      const outcome = await expectNoResponse(post(sender, receiver.url));
      expect(outcome.error).toBe('No response came within 0.5 seconds.');
      expect(outcome.durationMs).toBeLessThan(15_000);
      expect(classify(outcome)).toBe('retry');
      await until(() => receiver.openConnections() === 0);
    }
  });

  // contract.md D7
  it('counts all redirects and a dripping last body into one time', async () => {
    const receiver = closing(
      await startReceiver(({ path }, response) => {
        const hop = Number(path.slice('/hooks'.length) || 0);
        if (hop < 3) setTimeout(() => response.writeHead(307, { location: `/hooks${hop + 1}` }).end(), 600);
        else response.writeHead(200).write('x');
      }),
    );
    const { sender } = await setUpSender({ timeoutMs: 2_000 });
    const outcome = await expectResponded(post(sender, receiver.url));
    expect(outcome).toMatchObject({ status: 200, redirects: 3 });
    expect(outcome.durationMs).toBeGreaterThanOrEqual(1_990);
    // With a time of its own for the last one, it would be 2.8 seconds at least.
    expect(outcome.durationMs).toBeLessThan(2_700);
  });
});

describe('responses that break off', () => {
  const raw = (text: string) => (socket: Socket) => {
    socket.once('data', () => socket.write(text, () => setTimeout(() => socket.resetAndDestroy(), 20)));
  };

  it('lets the status line decide when the body is reset', async () => {
    const success = closing(await startRawReceiver(raw('HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\npart')));
    const failure = closing(
      await startRawReceiver(raw('HTTP/1.1 503 Busy\r\ncontent-length: 99\r\n\r\npart')),
    );
    const { sender } = await setUpSender();
    expect(await expectResponded(post(sender, success.url))).toMatchObject({ status: 200, bodyText: 'part' });
    const outcome = await expectResponded(post(sender, failure.url));
    expect(classify(outcome)).toBe('retry');
    expect(errorMessage(outcome)).toBe('The receiver responded with 503.');
  });

  it.each([
    ['a reset before the status', '', 'The connection was closed before a response came.'],
    ['no HTTP', 'SSH-2.0-server\r\n\r\n', 'The response is not valid HTTP.'],
    [
      'informational responses without end',
      'HTTP/1.1 103 Early Hints\r\nlink: </a.css>\r\n\r\n'.repeat(3_000),
      'The headers of the response are too large.',
    ],
  ])('calls %s a network error', async (_name, text, message) => {
    const receiver = closing(await startRawReceiver(raw(text)));
    const { sender } = await setUpSender();
    const outcome = await expectNoResponse(post(sender, receiver.url));
    expect(outcome.error).toBe(message);
    expect(classify(outcome)).toBe('retry');
    expect(receiver.connections()).toBe(1);
  });

  it('calls a refused connection a network error and names no address', async () => {
    const receiver = await startReceiver();
    await receiver.close();
    const { sender } = await setUpSender();
    const outcome = await expectNoResponse(post(sender, receiver.url));
    expect(outcome.error).toBe('The connection was refused.');
  });
});

describe('the decision before the write', () => {
  it('writes nothing when it says stop', async () => {
    const receiver = closing(await startReceiver());
    const { sender } = await setUpSender();
    const outcome = await post(sender, receiver.url, {
      beforeWrite: async () => {
        await until(() => receiver.connections() === 1);
        return { proceed: false, reason: 'endpoint deleted' };
      },
    });
    expect(outcome).toEqual({ kind: 'stopped', reason: 'endpoint deleted' });
    await until(() => receiver.openConnections() === 0);
    expect(receiver.bytesRead()).toBe(0);
  });

  it('is called again on a pooled socket, which is then reused', async () => {
    const receiver = closing(await startReceiver((_request, response) => response.end('ok')));
    const { sender } = await setUpSender();
    let calls = 0;
    for (let i = 1; i <= 5; i += 1) {
      const beforeWrite = async () => {
        calls += 1;
        return { proceed: true as const, headers: { 'x-service-signature': `signature ${calls}` } };
      };
      await expectResponded(post(sender, receiver.url, { beforeWrite }));
    }
    const stopped = await post(sender, receiver.url, {
      beforeWrite: async () => ({ proceed: false, reason: 'disabled' }),
    });
    expect(stopped.kind).toBe('stopped');
    expect(receiver.connections()).toBe(1);
    expect(receiver.received.map((request) => request.headers['x-service-signature'])).toEqual(
      [1, 2, 3, 4, 5].map((call) => `signature ${call}`),
    );
  });

  it('is called before each hop, and a stop between hops ends the attempt', async () => {
    const receiver = closing(
      await startReceiver((_request, response) => response.writeHead(307, { location: '/next' }).end()),
    );
    const { sender } = await setUpSender();
    let calls = 0;
    const outcome = await post(sender, receiver.url, {
      beforeWrite: async () => {
        calls += 1;
        return calls === 1 ? { proceed: true, headers: {} } : { proceed: false, reason: 'deleted meanwhile' };
      },
    });
    expect(outcome).toEqual({ kind: 'stopped', reason: 'deleted meanwhile' });
    expect(receiver.received).toHaveLength(1);
  });

  it('takes time of its own: a slow database does not spend the time of the receiver', async () => {
    const receiver = closing(await startReceiver());
    const { sender } = await setUpSender({ timeoutMs: 300 });
    const outcome = await expectResponded(
      post(sender, receiver.url, {
        beforeWrite: async () => {
          await new Promise((next) => setTimeout(next, 600));
          return { proceed: true, headers: {} };
        },
      }),
    );
    expect(outcome.status).toBe(204);
  });

  it('passes its error on, with nothing written', async () => {
    const receiver = closing(await startReceiver());
    const { sender } = await setUpSender();
    const failing = post(sender, receiver.url, {
      beforeWrite: async () => {
        throw new Error('database away');
      },
    });
    await expect(failing).rejects.toThrow('database away');
    expect(receiver.bytesRead()).toBe(0);
  });
});

describe('the caller’s signal', () => {
  it('rejects with its reason before a response, and keeps one whose status was read', async () => {
    const silent = closing(await startRawReceiver((socket) => socket.resume()));
    const answering = closing(
      await startReceiver((_request, response) => response.writeHead(202).write('x')),
    );
    const { sender } = await setUpSender();
    const before = new AbortController();
    const early = post(sender, silent.url, { signal: before.signal });
    await until(() => silent.bytesRead() > 0);
    before.abort(new Error('worker stops'));
    await expect(early).rejects.toThrow('worker stops');
    await until(() => silent.openConnections() === 0);

    const after = new AbortController();
    const late = post(sender, answering.url, { signal: after.signal });
    await until(() => answering.bytesWritten() > 0);
    await new Promise((next) => setTimeout(next, 50));
    after.abort(new Error('worker stops'));
    expect(await expectResponded(late)).toMatchObject({ status: 202, bodyText: 'x' });

    await expect(
      post(sender, answering.url, { signal: AbortSignal.abort(new Error('gone')) }),
    ).rejects.toThrow('gone');
    expect(answering.received).toHaveLength(1);
  });
});

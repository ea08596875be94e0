import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createResponseReader } from '../../../src/outbound/response.ts';
import { classify } from '../../../src/webhooks/sending/outcome.ts';
import { type Listening, startRawReceiver, startReceiver } from '../../support/receiver.ts';
import { closing, expectNoResponse, expectResponded, post, setUpSender } from './support/sending.ts';

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

/** Responds to each request of a connection with the same bytes, all at once or one by one. */
const startTalker = async (
  text: string,
  pace: 'at once' | 'byte by byte' = 'at once',
): Promise<Listening> => {
  const respond = async (socket: Socket) => {
    const bytes = Buffer.from(text, 'latin1');
    const parts = pace === 'at once' ? [bytes] : Array.from(bytes, (byte) => Uint8Array.of(byte));
    for (const part of parts) {
      socket.write(part);
      await new Promise((next) => setImmediate(next));
    }
  };
  return closing(await startRawReceiver((socket) => socket.setNoDelay().on('data', () => respond(socket))));
};

/** Sends twice, and says over how many connections. */
async function sendTwice(receiver: Listening) {
  const { sender } = await setUpSender();
  const outcome = await expectResponded(post(sender, receiver.url));
  await expectResponded(post(sender, receiver.url));
  return { outcome, connections: receiver.connections() };
}

describe('informational responses', () => {
  it.each([
    ['a 100 Continue that nobody asked for', 'HTTP/1.1 100 Continue\r\n\r\n'],
    ['a 103 with headers', 'HTTP/1.1 103 Early Hints\r\nlink: </a.css>; rel=preload\r\n\r\n'],
    ['several of them', 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n'.repeat(3)],
  ])('skips %s, and keeps the connection', async (_name, interim) => {
    for (const pace of ['at once', 'byte by byte'] as const) {
      const { outcome, connections } = await sendTwice(await startTalker(interim + OK, pace));
      expect(outcome).toMatchObject({ status: 200, bodyText: 'ok' });
      expect(connections).toBe(1);
    }
  });

  it('waits for the final response however long after the informational one it comes', async () => {
    const receiver = closing(
      await startReceiver((_request, response) => {
        response.writeContinue();
        setTimeout(() => response.writeHead(201).end('made'), 200);
      }),
    );
    const { sender } = await setUpSender();
    const outcome = await expectResponded(post(sender, receiver.url));
    expect(outcome).toMatchObject({ status: 201, bodyText: 'made' });
  });
});

describe('large heads', () => {
  const withHeaders = (status: string, kibibytes: number) =>
    `HTTP/1.1 ${status}\r\n${`x-filler: ${'y'.repeat(1_012)}\r\n`.repeat(kibibytes)}content-length: 2\r\n\r\nok`;

  it('takes a 2xx with 60 KiB of headers as the success it is, and keeps the connection', async () => {
    const { outcome, connections } = await sendTwice(await startTalker(withHeaders('200 OK', 60)));
    expect(outcome).toMatchObject({ status: 200, bodyText: 'ok' });
    expect(connections).toBe(1);
  });

  // contract.md D19
  it.each([
    ['200 OK', 'succeeded'],
    ['404 Not Found', 'failed'],
    ['503 Busy', 'retry'],
  ])('lets the status line of a %s decide where there are more than 64 KiB', async (status, verdict) => {
    const { outcome, connections } = await sendTwice(await startTalker(withHeaders(status, 100)));
    expect(outcome).toMatchObject({ status: Number(status.slice(0, 3)), bodyText: '' });
    expect(classify(outcome)).toBe(verdict);
    expect(connections).toBe(2);
  });
});

describe('the end of a response', () => {
  const chunked = (...chunks: string[]) => {
    const coded = chunks.map((chunk) => `${chunk.length.toString(16)};a=b\r\n${chunk}\r\n`).join('');
    return `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${coded}0\r\nx-trailer: 1\r\n\r\n`;
  };

  it.each([
    ['a length', OK, 'ok'],
    ['chunks', chunked('a'.repeat(300), 'b'), `${'a'.repeat(300)}b`],
    ['a 204 without a body', 'HTTP/1.1 204 No Content\r\n\r\n', ''],
    [
      'HTTP/1.0 that keeps alive',
      OK.replace('1.1', '1.0').replace('OK', 'OK\r\nConnection: Keep-Alive'),
      'ok',
    ],
  ])('is known from %s, so that the connection is used again', async (_name, text, bodyText) => {
    for (const pace of ['at once', 'byte by byte'] as const) {
      const { outcome, connections } = await sendTwice(await startTalker(text, pace));
      expect(outcome.bodyText).toBe(bodyText);
      expect(connections).toBe(1);
    }
  });

  it.each([
    ['it says so', OK.replace('OK', 'OK\r\nconnection: close')],
    ['it is of HTTP/1.0', OK.replace('1.1', '1.0')],
    ['more bytes follow', `${OK}HTTP/1.1 200 OK\r\n\r\n`],
    ['its length is said twice, in two ways', OK.replace('OK', 'OK\r\ncontent-length: 3')],
    ['it has a length and chunks', chunked('ok').replace('OK', 'OK\r\ncontent-length: 2')],
    ['its length is no number', OK.replace('length: 2', 'length: 0x2')],
    ['a header has a space before its colon', OK.replace('OK', 'OK\r\ncontent-length : 3')],
    ['a chunk has no size', chunked('ok').replace('2;a=b', 'zz')],
    ['a 204 announces a body', 'HTTP/1.1 204 No Content\r\ncontent-length: 2\r\n\r\nok'],
  ])('keeps the status, but not the connection, where %s', async (_name, text) => {
    const { outcome, connections } = await sendTwice(await startTalker(text));
    expect(classify(outcome)).toBe('succeeded');
    expect(connections).toBe(2);
  });

  it('is the same wherever the bytes are cut', () => {
    const text = `HTTP/1.1 100 Continue\r\n\r\n${chunked('some', 'text', 'x'.repeat(20))}`;
    const bytes = Buffer.from(text);
    for (let first = 1; first < bytes.length; first += 1) {
      for (let second = first; second < bytes.length; second += 7) {
        const reader = createResponseReader(64 * 1_024);
        const parts = [bytes.subarray(0, first), bytes.subarray(first, second), bytes.subarray(second)];
        const ends = parts.filter((part) => part.length > 0).map((part) => reader.read(part));
        expect(ends.indexOf(true)).toBe(ends.length - 1);
        expect(reader.response()).toEqual({
          status: 200,
          location: null,
          retryAfter: null,
          bodyText: `sometext${'x'.repeat(20)}`,
          reusableMs: 4_000,
        });
      }
    }
  });
});

describe('late responses', () => {
  it('takes a 2xx that comes right before the time is over, and not one right after it', async () => {
    const receiver = closing(
      await startReceiver(({ path }, response) => {
        setTimeout(() => response.end('ok'), path === '/late' ? 1_200 : 2_800);
      }),
    );
    const { sender } = await setUpSender({ timeoutMs: 2_000 });
    const [late, tooLate] = await Promise.all([
      expectResponded(post(sender, `${receiver.origin}/late`)),
      expectNoResponse(post(sender, `${receiver.origin}/too-late`)),
    ]);
    expect(late).toMatchObject({ status: 200, bodyText: 'ok' });
    expect(tooLate.error).toBe('No response came within 2 seconds.');
  });
});

import { connect as connectTcp, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { parseNetworks } from '../../../src/networks.ts';
import { openConnection } from '../../../src/outbound/connection.ts';
import { createConnectionPool } from '../../../src/outbound/connection-pool.ts';
import { createAddressGuard } from '../../../src/outbound/resolver.ts';
import type { SendRequest } from '../../../src/webhooks/sending/sender.ts';
import { startRawReceiver, startReceiver } from '../../support/receiver.ts';
import { closing, expectNoResponse, expectResponded, post, setUpSender, until } from './support/sending.ts';

const OK = 'HTTP/1.1 204 No Content\r\n\r\n';

/** Asked before a write, as slow as a database can be that is away for a while. */
function slowly(milliseconds: number) {
  const hops: number[] = [];
  const beforeWrite: SendRequest['beforeWrite'] = async ({ hop }) => {
    hops.push(hop);
    await sleep(milliseconds);
    return { proceed: true, headers: {} };
  };
  return { hops, beforeWrite };
}

const connected = (port: number) =>
  new Promise<Socket>((resolve, reject) => {
    const socket = connectTcp(port, '127.0.0.1', () => resolve(socket)).on('error', reject);
  });

/** Closes a connection on which nothing has happened for so long. */
const closingIdle = (milliseconds: number) => (socket: Socket) => {
  socket.setTimeout(milliseconds, () => socket.end());
  socket.on('data', () => socket.write(OK));
};

/** Responds to the first request of a connection and ends at the next one, without a word. */
const endingAtTheSecond = (socket: Socket) => {
  let requests = 0;
  socket.on('data', () => {
    requests += 1;
    if (requests === 1) socket.write(OK);
    else socket.end();
  });
};

describe('a connection that is lost before anything is written', () => {
  // contract.md D17
  it('is dialled again within the attempt when the receiver closed it while the database was away', async () => {
    const receiver = closing(await startRawReceiver(closingIdle(1_000)));
    const { sender } = await setUpSender({ timeoutMs: 1_500 });
    for (const connections of [2, 3]) {
      const { hops, beforeWrite } = slowly(3_000);
      const outcome = await expectResponded(post(sender, receiver.url, { beforeWrite }));
      expect(outcome.status).toBe(204);
      expect(outcome.repeated).toBeUndefined();
      // The decision is a moment old; asked again, it would be late again.
      expect(hops).toEqual([0]);
      // First a fresh connection is lost, then the pooled one of the first delivery.
      expect(receiver.connections()).toBe(connections);
    }
  });

  it('is requested again where dialling takes long: the endpoint may be gone by then', async () => {
    const receiver = closing(await startReceiver());
    const real = createAddressGuard({ allowedNetworks: parseNetworks('127.0.0.1/32') });
    let waitMs = 0;
    const resolve = async (host: string) => {
      await sleep(waitMs);
      return real.resolve(host);
    };
    const { sender } = await setUpSender({ guard: { ...real, resolve } });
    await expectResponded(post(sender, receiver.url));
    waitMs = 1_200;
    const hops: number[] = [];
    const outcome = await post(sender, receiver.url, {
      beforeWrite: async ({ hop }) => {
        hops.push(hop);
        if (hops.length > 1) return { proceed: false, reason: 'deleted meanwhile' };
        receiver.dropConnections();
        await sleep(50);
        return { proceed: true, headers: {} };
      },
    });
    expect(outcome).toEqual({ kind: 'stopped', reason: 'deleted meanwhile' });
    expect(hops).toEqual([0, 0]);
    expect(receiver.received).toHaveLength(1);
  });

  it('is dialled three times at most', async () => {
    const receiver = closing(await startRawReceiver((socket) => socket.end()));
    const { sender } = await setUpSender();
    const outcome = await expectNoResponse(post(sender, receiver.url, slowly(100)));
    expect(outcome.error).toBe('The connection was closed before a response came.');
    expect(receiver.connections()).toBeLessThanOrEqual(3);
  });
});

describe('a reused connection that ends under a request', () => {
  // contract.md D18
  it('after it had idled for a second: the request is made once more, within the same attempt', async () => {
    const receiver = closing(await startRawReceiver(endingAtTheSecond));
    const { sender } = await setUpSender();
    expect((await expectResponded(post(sender, receiver.url))).repeated).toBeUndefined();
    await sleep(1_100);
    const { hops, beforeWrite } = slowly(0);
    const outcome = await expectResponded(post(sender, receiver.url, { beforeWrite }));
    expect(outcome).toMatchObject({ status: 204, repeated: true });
    expect(hops).toEqual([0]);
    expect(receiver.connections()).toBe(2);
  });

  it('before that: it counts as a network error, for the receiver may have taken it', async () => {
    const receiver = closing(await startRawReceiver(endingAtTheSecond));
    const { sender } = await setUpSender();
    await expectResponded(post(sender, receiver.url));
    const outcome = await expectNoResponse(post(sender, receiver.url));
    expect(outcome.error).toBe('The connection was closed before a response came.');
    expect(outcome.repeated).toBeUndefined();
    expect(receiver.connections()).toBe(1);
  });

  it('with half a response: nothing is repeated', async () => {
    let requests = 0;
    const receiver = closing(
      await startRawReceiver((socket) => {
        socket.on('data', () => {
          requests += 1;
          if (requests === 1) socket.write(OK);
          else socket.end('HTTP/1.1 20');
        });
      }),
    );
    const { sender } = await setUpSender();
    await expectResponded(post(sender, receiver.url));
    await sleep(1_100);
    await expectNoResponse(post(sender, receiver.url));
    expect(requests).toBe(2);
  });

  it('and a second time on the fresh one: the attempt has failed, after two requests', async () => {
    let requests = 0;
    const receiver = closing(
      await startRawReceiver((socket) => {
        socket.on('data', () => {
          requests += 1;
          if (requests === 1) socket.write(OK);
          else socket.resetAndDestroy();
        });
      }),
    );
    const { sender } = await setUpSender();
    await expectResponded(post(sender, receiver.url));
    await sleep(1_100);
    expect(await expectNoResponse(post(sender, receiver.url))).toMatchObject({ repeated: true });
    expect(requests).toBe(3);
  });

  it('at a redirect: that hop alone is made once more', async () => {
    const target = closing(await startRawReceiver(endingAtTheSecond));
    const receiver = closing(
      await startReceiver((_request, response) => response.writeHead(307, { location: target.url }).end()),
    );
    const { sender } = await setUpSender();
    const first = await expectResponded(post(sender, receiver.url));
    expect(first).toMatchObject({ status: 204, redirects: 1 });
    await sleep(1_100);
    const { hops, beforeWrite } = slowly(0);
    const outcome = await expectResponded(post(sender, receiver.url, { beforeWrite }));
    expect(outcome).toMatchObject({ status: 204, redirects: 1, repeated: true });
    expect(hops).toEqual([0, 1]);
    expect(receiver.received.map(({ connection }) => connection)).toEqual([1, 1]);
    expect(target.connections()).toBe(2);
  });
});

describe('idle connections', () => {
  const talking = (headers: string) => (socket: Socket) => {
    socket.on('data', () => socket.write(`HTTP/1.1 200 OK\r\n${headers}content-length: 0\r\n\r\n`));
  };

  it('are given up after 4 seconds, and by what the receiver says in Keep-Alive, less a second', async () => {
    const silent = closing(await startRawReceiver(talking('')));
    const short = closing(await startRawReceiver(talking('Keep-Alive: max=9, timeout=2\r\n')));
    const long = closing(await startRawReceiver(talking('keep-alive: timeout=20\r\n')));
    const never = closing(await startRawReceiver(talking('keep-alive: timeout=1\r\n')));
    const all = [silent, short, long, never];
    const { sender } = await setUpSender();
    const sendToAll = () => Promise.all(all.map(({ url }) => expectResponded(post(sender, url))));
    const open = () => all.map((receiver) => receiver.openConnections());
    const began = performance.now();
    await sendToAll();
    await until(() => never.openConnections() === 0);
    expect(open()).toEqual([1, 1, 1, 0]);
    await until(() => short.openConnections() === 0);
    expect(performance.now() - began).toBeGreaterThan(900);
    expect(open()).toEqual([1, 0, 1, 0]);
    await until(() => silent.openConnections() === 0);
    expect(performance.now() - began).toBeGreaterThan(3_900);
    expect(open()).toEqual([0, 0, 1, 0]);
    await sendToAll();
    expect(all.map((receiver) => receiver.connections())).toEqual([2, 2, 1, 2]);
  });

  it('make place, the one that idles longest, for the next one of whatever receiver', async () => {
    const busy = closing(await startRawReceiver(talking('')));
    const newcomer = closing(await startRawReceiver(talking('')));
    const pool = createConnectionPool(2);
    const connect = async (port: number) => openConnection(await connected(port));
    const [first, second] = [await connect(busy.port), await connect(busy.port)];
    pool.give(busy.url, first, 4_000);
    pool.give(busy.url, second, 4_000);
    const other = await connect(newcomer.port);
    pool.give(newcomer.url, other, 4_000);
    expect(first.isOpen()).toBe(false);
    expect(pool.take(newcomer.url)).toBe(other);
    expect(pool.take(busy.url)).toBe(second);
    expect(pool.take(busy.url)).toBeNull();
    for (const connection of [second, other]) connection.close();
    pool.close();
  });

  it('are closed when unsolicited bytes come, which are no response to the next request', async () => {
    const receiver = closing(
      await startRawReceiver((socket) => {
        socket.once('data', () => {
          socket.write(OK);
          setTimeout(() => socket.write('HTTP/1.1 500 Planted\r\ncontent-length: 0\r\n\r\n'), 50);
        });
      }),
    );
    const { sender } = await setUpSender();
    await expectResponded(post(sender, receiver.url));
    await until(() => receiver.openConnections() === 0);
    expect(await expectResponded(post(sender, receiver.url))).toMatchObject({ status: 204 });
    expect(receiver.connections()).toBe(2);
  });
});

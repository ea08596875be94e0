import type { OutgoingHttpHeaders } from 'node:http';
import { describe, expect, it } from 'vitest';
import { classify, errorMessage } from '../../../src/webhooks/sending/outcome.ts';
import { type Receiver, startReceiver, startTrap } from '../../support/receiver.ts';
import { BODY, closing, expectNoResponse, expectResponded, post, setUpSender } from './support/sending.ts';

/** Answers every path with the status and headers of its entry, and 200 where there is none. */
function startRouter(routes: Record<string, [number, OutgoingHttpHeaders]>): Promise<Receiver> {
  return startReceiver(({ path }, response) => {
    const [status, headers] = routes[path] ?? [200, {}];
    response.writeHead(status, headers).end(path);
  });
}

describe('redirects that are followed', () => {
  it.each([300, 301, 302, 303, 304, 305, 307, 308, 399])(
    'keeps the POST, its body and its headers on a %i with a Location',
    async (status) => {
      const receiver = closing(await startRouter({ '/hooks': [status, { location: '/moved?to=1#part' }] }));
      const { sender } = await setUpSender();
      const outcome = await expectResponded(post(sender, receiver.url));
      expect(outcome).toMatchObject({ status: 200, redirects: 1, bodyText: '/moved?to=1' });
      const [first, second] = receiver.received;
      expect(second).toMatchObject({ method: 'POST', path: '/moved?to=1', raw: BODY });
      expect(second?.headers).toEqual(first?.headers);
    },
  );

  it.each([
    ['next', '/a/next'],
    ['../next', '/next'],
    ['?page=2', '/a/b?page=2'],
    ['/ü', '/%C3%BC'],
  ])('resolves the relative Location %s', async (location, path) => {
    const header = Buffer.from(location).toString('latin1');
    const receiver = closing(await startRouter({ '/a/b': [302, { location: header }] }));
    const { sender } = await setUpSender();
    const outcome = await expectResponded(post(sender, new URL('/a/b', receiver.url).href));
    expect(outcome).toMatchObject({ status: 200, bodyText: path });
  });

  it('goes on to another receiver, and its status is the result', async () => {
    const target = closing(await startRouter({ '/hooks': [503, {}] }));
    const receiver = closing(await startRouter({ '/hooks': [308, { location: target.url }] }));
    const { sender } = await setUpSender();
    const outcome = await expectResponded(post(sender, receiver.url));
    expect(outcome).toMatchObject({ status: 503, redirects: 1 });
    expect(classify(outcome)).toBe('retry');
    expect(target.received[0]?.headers.host).toBe(`127.0.0.1:${target.port}`);
  });

  it('does not wait for the body of a redirect', async () => {
    const receiver = closing(
      await startReceiver(({ path }, response) => {
        if (path === '/hooks') response.writeHead(302, { location: '/next' }).write('x');
        else response.end('ok');
      }),
    );
    const { sender } = await setUpSender({ timeoutMs: 30_000 });
    const outcome = await expectResponded(post(sender, receiver.url));
    expect(outcome).toMatchObject({ status: 200, bodyText: 'ok' });
    expect(outcome.durationMs).toBeLessThan(15_000);
  });

  // contract.md D11
  it('takes three hops, and the fourth redirect is the result', async () => {
    const receiver = closing(
      await startRouter({
        '/hooks': [302, { location: '/1' }],
        '/1': [302, { location: '/2' }],
        '/2': [302, { location: '/3' }],
        '/loop': [307, { location: '/loop' }],
      }),
    );
    const { sender } = await setUpSender();
    expect(await expectResponded(post(sender, receiver.url))).toMatchObject({ status: 200, redirects: 3 });
    const looping = await expectResponded(post(sender, new URL('/loop', receiver.url).href));
    expect(looping).toMatchObject({
      status: 307,
      redirects: 3,
      refusedRedirect: 'too many',
      bodyText: '/loop',
    });
    expect(classify(looping)).toBe('failed');
    expect(errorMessage(looping)).toBe('The receiver responded with 307, too many redirects (limit 3).');
    expect(receiver.received.filter(({ path }) => path === '/loop')).toHaveLength(4);
  });
});

describe('redirects that are not followed', () => {
  it.each([
    ['no Location', {}, 'no location'],
    ['an empty Location', { location: '' }, 'no location'],
    ['two Locations', { location: ['/a', '/b'] }, 'no location'],
    ['another scheme', { location: 'ftp://127.0.0.1/' }, 'bad url'],
    ['a user name', { location: 'http://user@127.0.0.1/' }, 'bad url'],
    ['a Location that is no URL', { location: 'http://[' }, 'bad url'],
    ['a Location of 3,000 characters', { location: `/${'a'.repeat(3_000)}` }, 'bad url'],
    ['a blocked address', { location: 'http://127.0.0.9/' }, 'blocked'],
    ['a hexadecimal address', { location: 'http://0x7f000009/' }, 'blocked'],
    ['a decimal address', { location: 'http://2130706441/' }, 'blocked'],
    ['a mapped address', { location: 'http://[::ffff:127.0.0.9]/' }, 'blocked'],
  ] as [string, OutgoingHttpHeaders, string][])(
    'answers the 302 itself, without a retry, for %s',
    async (_name, headers, refusedRedirect) => {
      const receiver = closing(await startRouter({ '/hooks': [302, headers] }));
      const { sender } = await setUpSender();
      const outcome = await expectResponded(post(sender, receiver.url));
      expect(outcome).toMatchObject({ status: 302, redirects: 0, refusedRedirect, bodyText: '/hooks' });
      expect(classify(outcome)).toBe('failed');
      expect(errorMessage(outcome)).toMatch(/^The receiver responded with 302, a redirect [a-zA-Z ]+\.$/);
      expect(receiver.received).toHaveLength(1);
    },
  );

  it('never reaches a blocked listener, by address or by name, at any hop', async () => {
    const trap = closing(await startTrap());
    const receiver = closing(
      await startRouter({
        '/address': [307, { location: trap.url }],
        '/name': [307, { location: `http://trap.test:${trap.port}/` }],
        '/mixed': [307, { location: `http://mixed.test:${trap.port}/` }],
        '/second': [307, { location: '/address' }],
      }),
    );
    const zone = { 'trap.test': [[trap.address]], 'mixed.test': [['127.0.0.1', trap.address]] };
    const { sender } = await setUpSender({ zone });
    for (const [path, redirects] of [
      ['/address', 0],
      ['/name', 0],
      ['/mixed', 0],
      ['/second', 1],
    ] as const) {
      const outcome = await expectResponded(post(sender, new URL(path, receiver.url).href));
      expect(outcome).toMatchObject({ status: 307, redirects, refusedRedirect: 'blocked' });
    }
    expect(trap.connections()).toBe(0);
  });

  it('takes a redirect to a name that does not exist as a network error', async () => {
    const receiver = closing(await startRouter({ '/hooks': [301, { location: 'http://missing.test/' }] }));
    const { sender } = await setUpSender();
    const outcome = await expectNoResponse(post(sender, receiver.url));
    expect(outcome.error).toBe('The host name of the URL does not exist.');
  });
});

import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { parseNetworks } from '../../../src/networks.ts';
import { BLOCKED_ADDRESS_MESSAGE } from '../../../src/outbound/address-guard.ts';
import { createNameCache } from '../../../src/outbound/name-cache.ts';
import { checkUrlAtRegistration, createAddressGuard } from '../../../src/outbound/resolver.ts';
import { startReceiver, startTrap } from '../../support/receiver.ts';
import { startDnsServer, type Zone } from './support/dns-server.ts';
import { closing, expectNoResponse, expectResponded, post, setUpSender } from './support/sending.ts';

describe('dialling', () => {
  it('never reaches a blocked listener: by literal, by name, by a mixed DNS response', async () => {
    const trap = closing(await startTrap());
    const receiver = closing(await startReceiver());
    const zone: Zone = {
      'trap.test': [[trap.address]],
      'mixed.test': [['127.0.0.1', trap.address]],
      'mapped.test': [['127.0.0.1', '::ffff:7f00:9']],
    };
    const { sender } = await setUpSender({ zone });
    const urls = [
      trap.url,
      `http://trap.test:${trap.port}/`,
      `http://mixed.test:${trap.port}/`,
      `http://mixed.test:${receiver.port}/`,
      `http://mapped.test:${receiver.port}/`,
    ];
    for (const url of urls) {
      const outcome = await expectNoResponse(post(sender, url));
      expect(outcome.error).toBe(BLOCKED_ADDRESS_MESSAGE);
    }
    expect(trap.connections()).toBe(0);
    expect(receiver.connections()).toBe(0);
  });

  // contract.md D12
  it('is immune to DNS responses that change between the check and the dial', async () => {
    const trap = closing(await startTrap());
    const receiver = closing(
      await startReceiver((_request, response) => response.writeHead(200, { connection: 'close' }).end()),
    );
    const zone: Zone = { 'rebind.test': [['127.0.0.1'], ['127.0.0.1'], [trap.address]] };
    const dns = closing(await startDnsServer(zone));
    const guard = createAddressGuard({
      allowedNetworks: parseNetworks('127.0.0.1/32'),
      dnsServers: dns.servers,
    });
    const url = `http://rebind.test:${receiver.port}/`;
    expect(await checkUrlAtRegistration(url, guard)).toEqual({ ok: true });
    const { sender } = await setUpSender({ guard });
    expect(await expectResponded(post(sender, url))).toMatchObject({ status: 200 });
    // One question a dial: the address that was judged is the one that was dialled.
    expect(dns.asked).toHaveLength(2);
    const onTrapsPort = `http://rebind.test:${trap.port}/`;
    for (const rebound of [url, onTrapsPort]) {
      expect((await expectNoResponse(post(sender, rebound))).error).toBe(BLOCKED_ADDRESS_MESSAGE);
    }
    expect(receiver.received).toHaveLength(1);
    expect(trap.connections()).toBe(0);
  });

  // contract.md W124
  it('asks DNS once for many dials while its response holds, ten seconds at most, and judges each dial anew', async () => {
    const receiver = closing(
      await startReceiver((_request, response) => response.writeHead(200, { connection: 'close' }).end()),
    );
    const zone: Zone = { 'kept.test': [['127.0.0.1']] };
    const dns = closing(await startDnsServer(zone, 3_600));
    const allowedNetworks = [...parseNetworks('127.0.0.1/32')];
    const guard = createAddressGuard({ allowedNetworks, dnsServers: dns.servers });
    const { sender } = await setUpSender({ guard });
    const url = `http://kept.test:${receiver.port}/`;
    await Promise.all([1, 2, 3].map(() => expectResponded(post(sender, url))));
    await expectResponded(post(sender, url));
    expect(dns.asked).toEqual(['kept.test']);
    allowedNetworks.length = 0;
    expect((await expectNoResponse(post(sender, url))).error).toBe(BLOCKED_ADDRESS_MESSAGE);
    expect(dns.asked).toEqual(['kept.test']);
    expect(receiver.received).toHaveLength(4);
  });

  it('remembers a name for as long as it is told, and a thousand of them', async () => {
    const names = createNameCache<number>(50);
    let lookUps = 0;
    const lookUp = (ttlMs: number) => async () => {
      lookUps += 1;
      return { value: lookUps, ttlMs };
    };
    expect(await names.resolve('long', lookUp(3_600_000))).toBe(1);
    expect(await names.resolve('long', lookUp(3_600_000))).toBe(1);
    expect(await names.resolve('none', lookUp(0))).toBe(2);
    expect(await names.resolve('none', lookUp(0))).toBe(3);
    await sleep(60);
    expect(await names.resolve('long', lookUp(3_600_000))).toBe(4);
    for (let count = 0; count < 1_000; count += 1) await names.resolve(`other-${count}`, lookUp(3_600_000));
    expect(await names.resolve('long', lookUp(3_600_000))).toBe(1_005);
  });

  it('keeps a pooled socket on the address it was vetted for, with one question to DNS', async () => {
    const trap = closing(await startTrap());
    const receiver = closing(await startReceiver());
    const { sender, dns } = await setUpSender({ zone: { 'pooled.test': [['127.0.0.1'], [trap.address]] } });
    for (let i = 0; i < 3; i += 1) {
      const outcome = await expectResponded(post(sender, `http://pooled.test:${receiver.port}/`));
      expect(outcome.status).toBe(204);
    }
    expect(receiver.received.map(({ connection }) => connection)).toEqual([1, 1, 1]);
    expect(receiver.received[0]?.headers.host).toBe(`pooled.test:${receiver.port}`);
    expect(dns.asked).toEqual(['pooled.test']);
    expect(trap.connections()).toBe(0);
  });

  it('writes nothing to a socket whose own address is not allowed, fresh or pooled', async () => {
    const receiver = closing(await startReceiver());
    const real = createAddressGuard({ allowedNetworks: parseNetworks('127.0.0.1/32') });
    let allows = false;
    const { sender } = await setUpSender({ guard: { resolve: real.resolve, allows: () => allows } });
    expect((await expectNoResponse(post(sender, receiver.url))).error).toBe(BLOCKED_ADDRESS_MESSAGE);
    expect(receiver.bytesRead()).toBe(0);
    allows = true;
    await expectResponded(post(sender, receiver.url));
    allows = false;
    expect((await expectNoResponse(post(sender, receiver.url))).error).toBe(BLOCKED_ADDRESS_MESSAGE);
    expect(receiver.received).toHaveLength(1);
  });

  it('tries the next address of a receiver when one refuses', async () => {
    const receiver = closing(await startReceiver());
    const zone: Zone = { 'two.test': [['127.0.0.5', '127.0.0.1']] };
    const { sender } = await setUpSender({ zone, allowed: '127.0.0.1/32 127.0.0.5/32' });
    const outcome = await expectResponded(post(sender, `http://two.test.:${receiver.port}/`));
    expect(outcome.status).toBe(204);
    expect(receiver.received[0]?.headers.host).toBe(`two.test:${receiver.port}`);
  });

  it('takes a name without a DNS response as a network error, within the time of DNS', async () => {
    const { sender } = await setUpSender({
      zone: { 'silent.test': 'silent', 'empty.test': [[]] },
      timeoutMs: 30_000,
    });
    for (const [host, message] of [
      ['missing.test', 'The host name of the URL does not exist.'],
      ['empty.test', 'The host name of the URL does not exist.'],
      ['silent.test', 'The host name of the URL could not be resolved in time.'],
    ]) {
      const outcome = await expectNoResponse(post(sender, `http://${host}/`));
      expect(outcome.error).toBe(message);
      expect(outcome.durationMs).toBeLessThan(15_000);
    }
  });

  it('counts a slow DNS into the time of the attempt', async () => {
    const { sender } = await setUpSender({
      zone: { 'silent.test': 'silent' },
      timeoutMs: 300,
      dnsTimeoutMs: 30_000,
    });
    const outcome = await expectNoResponse(post(sender, 'http://silent.test/'));
    expect(outcome.error).toBe('No response came within 0.3 seconds.');
    expect(outcome.durationMs).toBeLessThan(15_000);
  });
});

describe('a refused port', () => {
  // contract.md W15
  it('is neither registered nor sent to, also in an allowed network, and a redirect to it is not followed', async () => {
    const { sender } = await setUpSender();
    const guard = createAddressGuard({ allowedNetworks: parseNetworks('127.0.0.1/32') });
    const url = 'http://127.0.0.1:6379/';
    const reason = 'The port of the URL is reserved for another service.';
    expect(await checkUrlAtRegistration(url, guard)).toEqual({ ok: false, reason });
    expect((await expectNoResponse(post(sender, url))).error).toBe(reason);
    const receiver = closing(
      await startReceiver((_request, response) => response.writeHead(308, { location: url }).end()),
    );
    const outcome = await expectResponded(post(sender, receiver.url));
    expect(outcome).toMatchObject({ status: 308, refusedRedirect: 'bad url' });
  });
});

describe('registration', () => {
  it('accepts a name that does not resolve yet and an allowed address', async () => {
    const dns = closing(await startDnsServer({ 'open.test': [['127.0.0.1']], 'silent.test': 'silent' }));
    const guard = createAddressGuard({
      allowedNetworks: parseNetworks('127.0.0.1/32'),
      dnsServers: dns.servers,
      dnsTimeoutMs: 300,
    });
    for (const host of ['open.test', 'missing.test', 'silent.test', '127.0.0.1', 'localhost']) {
      expect(await checkUrlAtRegistration(`https://${host}/hook`, guard)).toEqual({ ok: true });
    }
  });

  // contract.md W2
  it('refuses blocked addresses, names that lead to them and bad URLs, and names no address', async () => {
    const zone: Zone = { 'inside.test': [['10.0.0.5']], 'inside6.test': [['fd00::1']] };
    const dns = closing(await startDnsServer(zone));
    const guard = createAddressGuard({ allowedNetworks: [], dnsServers: dns.servers });
    const hosts = ['inside.test', 'INSIDE6.test.', 'localhost', 'a.localhost.', '127.1', '0x7f.1', '[::1]'];
    for (const host of hosts) {
      const verdict = await checkUrlAtRegistration(`http://${host}/`, guard);
      expect(verdict).toEqual({ ok: false, reason: BLOCKED_ADDRESS_MESSAGE });
    }
    expect(await checkUrlAtRegistration('http://user:pass@inside.test/', guard)).toMatchObject({ ok: false });
    expect(dns.asked).toEqual(['inside.test', 'inside6.test']);
    expect(BLOCKED_ADDRESS_MESSAGE).not.toMatch(/\d/);
  });
});

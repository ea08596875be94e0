import { describe, expect, it } from 'vitest';
import { parseNetworks } from '../../../src/networks.ts';
import {
  classifyAddress,
  fixedAddresses,
  hostOf,
  parseReceiverUrl,
} from '../../../src/outbound/address-guard.ts';

/** Judges a host as a URL spells it, the way the sender does, without DNS and without a dial. */
function classifyHost(host: string, allowed = ''): 'allowed' | 'blocked' | 'needs DNS' | 'refused' {
  const verdict = parseReceiverUrl(`http://${host}/`);
  if (!verdict.ok) return 'refused';
  const addresses = fixedAddresses(hostOf(verdict.url));
  if (addresses === null) return 'needs DNS';
  const verdicts = addresses.map((address) => classifyAddress(address, parseNetworks(allowed)));
  return verdicts.includes('allowed') ? 'allowed' : 'blocked';
}

const BLOCKED_HOSTS = [
  // Loopback, in every spelling that a URL parser folds.
  ...['127.0.0.1', '127.255.255.254', '127.0.0.1.', '127.1', '127.0.1', '2130706433', '0x7f000001'],
  ...['0x7f.1', '0177.0.0.1', '0177.0x0.1', '017700000001', '127.0.0.0x1', '00000177.0.0.1', '%31%32%37.1'],
  ...['①②⑦.⓪.⓪.①', '１２７.０.０.１', '127。0。0。1', '127．0．0．1', '127｡1', '１２７.1'],
  ...['localhost', 'LOCALHOST', 'localhost.', 'app.localhost', 'a.b.localhost.', 'ｌocalhost', 'loc%61lhost'],
  // This network, private, shared, link-local and metadata.
  ...['0', '0.0.0.0', '0.1.2.3', '10.0.0.1', '10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
  ...['100.64.0.1', '100.127.255.255', '100.100.100.200', '169.254.0.1', '169.254.169.254', '2852039166'],
  ...['0xa9fea9fe', '0251.0376.0251.0376', '168.63.129.16', '0xa83f8110', '192.0.0.192'],
  // Documentation, benchmarks, relays, multicast, reserved.
  ...['192.0.0.1', '192.0.2.1', '198.51.100.7', '203.0.113.9', '198.18.0.1', '198.19.255.255', '192.88.99.1'],
  ...['192.31.196.1', '192.52.193.1', '192.175.48.1', '224.0.0.1', '239.255.255.255', '240.0.0.1'],
  ...['255.255.255.255', '4294967295'],
  // IPv6: unspecified, loopback, IPv4 within IPv6.
  ...['[::]', '[::1]', '[0:0:0:0:0:0:0:1]', '[0000::0001]', '[::127.0.0.1]', '[::7f00:1]', '[::8.8.8.8]'],
  ...[
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::FFFF:10.0.0.1]',
    '[::ffff:8.8.8.8]',
    '[0:0:0:0:0:ffff:a00:1]',
  ],
  ...['[::ffff:0:127.0.0.1]', '[::ffff:0:8.8.8.8]', '[::5efe:7f00:1]', '[::5efe:127.0.0.1]'],
  ...['[2606:4700::5efe:10.0.0.1]', '[2606:4700::200:5efe:7f00:1]', '[2606:4700::100:5efe:808:808]'],
  ...['[64:ff9b::127.0.0.1]', '[64:ff9b::10.0.0.1]', '[64:ff9b::a9fe:a9fe]', '[64:ff9b::168.63.129.16]'],
  ...['[64:ff9b::6440:1]', '[64:ff9b:1::8.8.8.8]', '[64:ff9b:1:abcd::1]', '[64:ff9b:2::1]'],
  ...['[2002:7f00:1::]', '[2002:808:808::1]', '[2001::1]', '[2001:0:7f00:1::]', '[2001:0:4136:e378::]'],
  // IPv6: private, link-local, site-local, multicast, documentation, special and unassigned.
  ...['[fc00::1]', '[fd00::1]', '[fd00:ec2::254]', '[fd20:ce::254]', '[fe80::1]', '[febf::1]', '[fec0::1]'],
  ...[
    '[ff02::1]',
    '[ff0e::1]',
    '[100::1]',
    '[100:0:0:1::1]',
    '[2001:2::1]',
    '[2001:3::1]',
    '[2001:4:112::1]',
  ],
  ...['[2001:10::1]', '[2001:20::1]', '[2001:30::1]', '[2001:db8::1]', '[2620:4f:8000::1]', '[3fff::1]'],
  ...['[5f00::1]', '[4000::1]', '[8000::1]', '[1000::1]', '[e000::1]', '[1:2:3:4:5:6:7:8]'],
];

const ALLOWED_HOSTS = [
  ...['8.8.8.8', '1.1.1.1', '134744072', '0x08080808', '9.255.255.255', '11.0.0.0', '100.63.255.255'],
  ...['100.128.0.0', '126.255.255.255', '128.0.0.1', '168.63.129.15', '168.63.129.17', '169.253.255.255'],
  ...['169.255.0.0', '172.15.255.255', '172.32.0.0', '192.167.255.255', '192.169.0.0', '198.17.255.255'],
  ...['198.20.0.0', '223.255.255.255', '[2606:4700:4700::1111]', '[2001:4860:4860::8888]', '[2a00:1450::1]'],
  ...['[2001:200::1]', '[2003::1]', '[2606:4700:0:0:5efe::1]', '[64:ff9b::8.8.8.8]', '[64:ff9b::808:808]'],
];

describe('judging a host', () => {
  it.each(BLOCKED_HOSTS)('blocks %s', (host) => {
    expect(classifyHost(host)).toBe('blocked');
  });

  it.each(ALLOWED_HOSTS)('allows %s', (host) => {
    expect(classifyHost(host)).toBe('allowed');
  });

  it('tries more than 60 different hostile spellings', () => {
    expect(new Set(BLOCKED_HOSTS).size).toBe(BLOCKED_HOSTS.length);
    expect(BLOCKED_HOSTS.length).toBeGreaterThan(60);
  });

  it.each([
    'example.com',
    'example.com.',
    'localhost.example.com',
    'notlocalhost',
    '127.0.0.1.nip.io',
    'a_b.test',
  ])('leaves %s to DNS', (host) => {
    expect(classifyHost(host)).toBe('needs DNS');
  });
});

describe('judging an address', () => {
  it.each([
    ...['', ' ', 'localhost', '127.1', '2130706433', '0x7f.1', '0177.0.0.1', '8.8.8.8.', '8.8.8', '08.8.8.8'],
    ...['[2606:4700::1]', 'fe80::1%lo', '2606:4700::1%1', '8.8.8.8/32', '8.8.8.8 ', '256.1.1.1', ':::1'],
  ])('blocks %j, which is no plain public address', (text) => {
    expect(classifyAddress(text, parseNetworks('0.0.0.0/32, fe80::/10'))).toBe('blocked');
  });

  it('opens what lies in an allowed network, and nothing else', () => {
    const networks = parseNetworks(' 127.0.0.1/32,10.1.0.0/16  fd00:1::/32 ');
    const judged = (ip: string) => classifyAddress(ip, networks);
    for (const ip of ['127.0.0.1', '10.1.2.3', 'fd00:1::5', '8.8.8.8']) expect(judged(ip)).toBe('allowed');
    const blocked = ['127.0.0.2', '127.0.0.9', '10.2.0.0', 'fd00:2::1', '::1', '::ffff:127.0.0.1'];
    for (const ip of [...blocked, '64:ff9b::7f00:1']) expect(judged(ip)).toBe('blocked');
    expect(classifyHost('localhost', '::1/128')).toBe('allowed');
  });
});

describe('allowed networks', () => {
  it('may be empty, and a bit set beyond the prefix does not matter', () => {
    expect(parseNetworks('')).toEqual([]);
    expect(parseNetworks([' '])).toEqual([]);
    expect(classifyAddress('10.9.9.9', parseNetworks(['10.0.0.1/8']))).toBe('allowed');
  });

  it.each([
    '10.0.0.0',
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '10/8',
    '0x0a.0.0.0/8',
    'fd00::/129',
    'fe80::%1/10',
    '/8',
  ])('names %s, which is not a network', (cidr) => {
    expect(() => parseNetworks(`127.0.0.1/32,${cidr}`)).toThrow(`"${cidr}" is not a network`);
  });
});

describe('judging a URL', () => {
  it.each([
    ['ftp://example.com/', 'start with http'],
    ['javascript:alert(1)', 'start with http'],
    ['file:///etc/passwd', 'start with http'],
    ['gopher://example.com/', 'start with http'],
    ['', 'not valid'],
    ['example.com', 'not valid'],
    ['/hook', 'not valid'],
    ['http://', 'not valid'],
    ['http://[::1', 'not valid'],
    ['http://[fe80::1%25lo]/', 'not valid'],
    ['http://256.0.0.1/', 'not valid'],
    ['http://example.com:99999/', 'not valid'],
    ['http://example.com:0/', 'port'],
    ['http://example.com:22/', 'port'],
    ['https://example.com:6379/', 'port'],
    ['http://127.0.0.1:5432/', 'port'],
    ['http://user@example.com/', 'user name'],
    ['http://:pass@example.com/', 'user name'],
    ['http://example.com@127.0.0.1/', 'user name'],
    ['http://a@127.0.0.1@example.com/', 'user name'],
    ['http://example..com/', 'host'],
    ['http://example.com../', 'host'],
    ['http://./', 'host'],
    [`http://${'a'.repeat(64)}.com/`, 'host'],
    [`http://${'a.'.repeat(127)}com/`, 'host'],
    [`http://example.com/${'a'.repeat(2_048)}`, '2048'],
    [`http://example.com/${'ü'.repeat(500)}`, '2048'],
  ])('refuses %s', (text, reason) => {
    const verdict = parseReceiverUrl(text);
    expect(verdict).toEqual({ ok: false, reason: expect.stringContaining(reason) });
  });

  it.each([
    ['HTTPS://EXAMPLE.com:443/a/../b?c#d', 'https://example.com/b?c#d'],
    ['http://example.com./', 'http://example.com/'],
    ['http:\\\\example.com\\hook', 'http://example.com/hook'],
    ['http://münchen.example/', 'http://xn--mnchen-3ya.example/'],
    [' http://example.com:8080\n', 'http://example.com:8080/'],
    ['http://[2606:4700:0:0::1]:81/', 'http://[2606:4700::1]:81/'],
  ])('normalises %j', (text, href) => {
    const verdict = parseReceiverUrl(text);
    expect(verdict.ok && verdict.url.href).toBe(href);
  });

  it('refuses every port that browsers refuse, but that of discard, and those of the databases and queues nearby', () => {
    const refused = Array.from({ length: 65_535 }, (_, index) => index + 1).filter(
      (port) => !parseReceiverUrl(`http://example.com:${port}/`).ok,
    );
    for (const port of [22, 25, 53, 110, 143, 465, 587, 993, 995, 6000, 6667, 10_080])
      expect(refused).toContain(port);
    for (const port of [2_375, 3_306, 5_432, 6_379, 7_233, 9_200, 11_211, 27_017])
      expect(refused).toContain(port);
    for (const port of [9, 80, 443, 3_000, 8_000, 8_080, 8_443, 9_000]) expect(refused).not.toContain(port);
    // Receivers of tests and demos get theirs from the system, which begins here.
    expect(Math.max(...refused)).toBeLessThan(32_768);
  });

  it('strips the brackets of IPv6', () => {
    expect(hostOf(new URL('http://[2606:4700::1]:81/'))).toBe('2606:4700::1');
  });
});

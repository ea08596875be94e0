import { afterEach, beforeEach, expect, it } from 'vitest';
import { parseNetworks } from '../../src/networks.ts';
import { createAddressGuard } from '../../src/outbound/resolver.ts';
import { createRobots, type Robots } from '../../src/research/reading/robots.ts';
import { html, redirect, type Site, startSite } from '../support/site.ts';

const HOUR_MS = 3_600_000;
const signal = new AbortController().signal;

let site: Site;
let robots: Robots;
let clock = 0;
beforeEach(async () => {
  clock = 0;
  site = await startSite();
  const guard = createAddressGuard({ allowedNetworks: parseNetworks('127.0.0.1/32') });
  robots = createRobots({
    guardOf: () => guard,
    // Whatever has rules forbids all: this is about which rules are known.
    threads: { allows: async () => false },
    timeoutMs: 1_000,
    now: () => clock,
  });
});
afterEach(() => site.close());

const check = (name = 'site'): Promise<string> =>
  robots.check('w', new URL(site.at('/page', name)), signal).then(
    () => 'allowed',
    (error: Error) => error.message,
  );
const asked = () => site.requests.filter(({ path }) => path === '/robots.txt').length;

// contract.md N5
it('rules are asked for once in 24 hours, a failure again after ten minutes', async () => {
  expect([await check(), await check()]).toEqual(['allowed', 'allowed']);
  site.pages.set('/robots.txt', html('User-agent: *\nDisallow: /', 'text/plain'));
  clock = 24 * HOUR_MS - 1;
  expect([await check(), asked()]).toEqual(['allowed', 1]);
  clock = 24 * HOUR_MS;
  expect([await check(), asked()]).toEqual(['forbidden by robots.txt', 2]);
  site.pages.set('/robots.txt', (_, response) => response.writeHead(500).end());
  clock = 48 * HOUR_MS;
  expect([await check(), await check(), asked()]).toEqual([
    'robots.txt unavailable',
    'robots.txt unavailable',
    3,
  ]);
  site.pages.delete('/robots.txt');
  clock += HOUR_MS / 6;
  expect([await check(), asked()]).toEqual(['allowed', 4]);
});

it('each origin has rules of its own, and the oldest are forgotten: 500 sites, and 8 MiB of rules', async () => {
  for (let number = 0; number < 505; number += 1) await check(`site${number}`);
  expect(robots.size()).toBe(500);
  // Each is cut at 500 KiB.
  site.pages.set('/robots.txt', html(`# ${'x'.repeat(600 * 1024)}`, 'text/plain'));
  for (let number = 0; number < 20; number += 1) await check(`large${number}`);
  expect(robots.size()).toBeLessThanOrEqual(16);
});

it('redirects of robots.txt are followed five times, never to a private address; beyond that there are no rules', async () => {
  site.pages.set('/0', html('User-agent: *', 'text/plain'));
  for (let left = 1; left <= 6; left += 1) site.pages.set(`/${left}`, redirect(`/${left - 1}`));
  site.pages.set('/robots.txt', redirect('/4'));
  expect(await check('five')).toBe('forbidden by robots.txt');
  site.pages.set('/robots.txt', redirect('/5'));
  expect(await check('six')).toBe('allowed');
  site.pages.set('/robots.txt', redirect('http://10.0.0.1/robots.txt'));
  expect(await check('private')).toBe('not a public address');
});

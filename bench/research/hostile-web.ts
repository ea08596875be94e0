/** A search server and a web of pages that want to hurt who reads them, on loopback. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const SENTENCE = 'Drip hoses bring 20 litres of water to the roots, and leave the leaves of the plants dry.';
const FILLER = `<p>${SENTENCE} ${SENTENCE}</p>`;
const MIB = 1024 * 1024;
const SLOW_MS = 100;

const page = (body: string): Buffer =>
  Buffer.from(
    `<!doctype html><html><head><title>Hoses</title></head><body><article>${FILLER}${body}</article></body></html>`.slice(
      0,
      MIB - 1,
    ),
  );

/** Bodies by the first label of their host. */
const BODIES: Readonly<Record<string, Buffer>> = {
  good: page(FILLER.repeat(3)),
  fair: page(FILLER.repeat(4)),
  fine: page(FILLER.repeat(5)),
  full: page(FILLER.repeat(6_000)),
  unclosed: page('<p>a '.repeat(15_000)),
  nested: page('<div>'.repeat(15_000)),
  elements: page('<b>a</b>'.repeat(120_000)),
  attributes: page(`<p ${'a=b '.repeat(250_000)}>`),
  tables: page(`${'<table><tr><td>'.repeat(160)}${SENTENCE}`.repeat(300)),
};

const TYPES: Readonly<Record<string, string>> = {
  pdf: 'application/pdf',
  encoded: 'text/html; charset=utf-8',
};

/** What a host does that is no plain body. */
function misbehave(host: string, response: ServerResponse): boolean {
  switch (host) {
    case 'endless':
    case 'slow': {
      response.writeHead(200, { 'content-type': 'text/html' });
      const timer = setInterval(() => response.write(host === 'slow' ? 'a' : 'a'.repeat(16 * 1024)), SLOW_MS);
      response.on('close', () => clearInterval(timer));
      return true;
    }
    case 'private':
      response.writeHead(302, { location: 'http://10.0.0.1/' }).end();
      return true;
    case 'pdf':
    case 'encoded':
      response
        .writeHead(200, { 'content-type': TYPES[host] })
        .end(Buffer.from(`%PDF ${FILLER} \xe4\xf6\xfc`.repeat(50), 'latin1'));
      return true;
    default:
      return false;
  }
}

const HOSTS = [
  ...Object.keys(BODIES),
  'endless',
  'slow',
  'private',
  'pdf',
  'encoded',
  'stars',
  'broken',
  'forbids',
];
/** By host; others have none. */
const ROBOTS: Readonly<Record<string, [number, string]>> = {
  stars: [200, `User-agent: *\n${`Disallow: /${'*a'.repeat(1_000)}b\n`.repeat(200)}`],
  forbids: [200, 'User-agent: *\nDisallow: /\n'],
  broken: [503, ''],
};

export interface HostileWeb {
  /** Of the search server. */
  readonly url: string;
  /** Pages that were requested. */
  readonly requested: () => number;
  close(): Promise<void>;
}

export async function startHostileWeb(): Promise<HostileWeb> {
  let requested = 0;
  let searches = 0;
  const server = createServer((request, response) => {
    const { port } = server.address() as AddressInfo;
    const [host = ''] = (request.headers.host ?? '').split('.');
    if (request.url?.startsWith('/search') === true) {
      searches += 1;
      // Each search begins with another host, so that all of them are read, and has three pages of it.
      const turned = HOSTS.map((_, at) => HOSTS[(at + searches) % HOSTS.length] ?? '');
      const names = [turned[0], turned[0], ...turned].slice(0, 10);
      const results = names.map((name, at) => ({
        url: `http://${name}.localhost:${port}/${at}${'a'.repeat(200)}`,
        title: name,
        content: SENTENCE,
        engines: ['stand-in'],
      }));
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ results, unresponsive_engines: [] }));
    } else if (request.url === '/robots.txt') {
      const [status, rules] = ROBOTS[host] ?? [404, ''];
      response.writeHead(status, { 'content-type': 'text/plain' }).end(rules);
    } else {
      requested += 1;
      if (misbehave(host, response)) return;
      const body = BODIES[host] ?? BODIES.good;
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(body);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requested: () => requested,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The folder of pages that ships with the service, as a small web of its own. */
import { globSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Parser } from 'htmlparser2';
import { parseNetworks } from '../../networks.ts';
import { createAddressGuard } from '../../outbound/resolver.ts';
import type { OwnPages } from '../reading/read-page.ts';

/** A page of the folder, `pages/<site>/<name>.html`. */
export interface FolderPage {
  /** The host's first label. */
  readonly site: string;
  readonly path: string;
  readonly html: string;
  readonly language: string;
  readonly title: string;
  readonly paragraphs: readonly string[];
  readonly publishedAt: Date | null;
}

const FOLDER = fileURLToPath(new URL('./pages/', import.meta.url));
const HOST = /^([a-z0-9-]{1,63})\.localhost(?::\d+)?$/;

function readPage(file: string): FolderPage {
  const html = readFileSync(`${FOLDER}${file}`, 'utf8');
  const [site = '', name = ''] = file.split(sep);
  const texts = new Map<string, string[]>([
    ['title', []],
    ['p', []],
  ]);
  let [language, published, open] = ['en', '', ''];
  const parser = new Parser({
    onopentag(tag, attributes) {
      if (tag === 'html') language = attributes.lang ?? language;
      if (attributes.property === 'article:published_time') published = attributes.content ?? '';
      open = tag;
      texts.get(tag)?.push('');
    },
    ontext(text) {
      const lines = texts.get(open);
      lines?.push((lines.pop() ?? '') + text);
    },
    onclosetag() {
      open = '';
    },
  });
  parser.end(html);
  const date = new Date(published);
  return {
    site,
    path: `/${name.replace(/\.html$/, '')}`,
    html,
    language,
    title: texts.get('title')?.join(' ') ?? '',
    paragraphs: texts.get('p') ?? [],
    publishedAt: Number.isNaN(date.getTime()) ? null : date,
  };
}

/** All pages of the folder, in the order of their names. */
export const readFolder = (): FolderPage[] => globSync('*/*.html', { cwd: FOLDER }).sort().map(readPage);

export interface ServedPages extends OwnPages {
  readonly pages: readonly FolderPage[];
  addressOf(page: FolderPage): string;
  close(): Promise<void>;
}

/** Serves the folder on a free port of the loopback, each site under a name of its own: `http://<site>.localhost:port`. */
export async function servePages(): Promise<ServedPages> {
  const pages = readFolder();
  const bodies = new Map(pages.map(({ site, path, html }) => [`${site}${path}`, html]));
  const server = createServer((request, response) => {
    const site = HOST.exec(request.headers.host ?? '')?.[1];
    const body = bodies.get(`${site}${request.url}`);
    if (body === undefined || request.method !== 'GET') response.writeHead(404).end();
    else response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(body);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  server.unref();
  const { port } = server.address() as AddressInfo;
  return {
    pages,
    guard: createAddressGuard({ allowedNetworks: parseNetworks('127.0.0.1/32') }),
    owns: ({ protocol, hostname, port: given }) =>
      protocol === 'http:' && given === String(port) && hostname.endsWith('.localhost'),
    addressOf: ({ site, path }) => `http://${site}.localhost:${port}${path}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

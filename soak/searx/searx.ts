import { spawn } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse, stringify } from 'yaml';
import { eventually } from '../../test/support/wait.ts';

/** Where Debian's packages are unpacked: the machine itself, or a folder of `dpkg -x`. */
const ROOT = process.env.SEARX_ROOT ?? '/';
const PACKAGES = path.join(ROOT, 'usr/lib/python3/dist-packages');
const RESOURCES = path.join(ROOT, 'usr/share/python3-searx');
/** The settings that the package `searx` shows as an example. */
const EXAMPLE = path.join(ROOT, 'usr/share/doc/searx/examples/settings.yml');

/** What is missing of the two packages. */
export const missingPackages = (): string[] => [
  ...(existsSync(path.join(PACKAGES, 'searx/webapp.py')) ? [] : ['python3-searx']),
  ...(existsSync(EXAMPLE) ? [] : ['searx']),
];

/** The site that searx asks, in place of an engine of the web. */
export interface SearchedSite {
  /** Status and body of its responses. */
  respond: () => { status: number; body: unknown };
  readonly queries: string[];
  readonly port: number;
  close(): Promise<void>;
}

const listen = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
};
const closed = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });

export async function startSearchedSite(): Promise<SearchedSite> {
  const queries: string[] = [];
  const server = createServer((request, response) => {
    queries.push(new URL(request.url ?? '/', 'http://site').searchParams.get('q') ?? '');
    const { status, body } = site.respond();
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  const site: SearchedSite = {
    respond: () => ({ status: 200, body: { results: [] } }),
    queries,
    port: await listen(server),
    close: () => closed(server),
  };
  return site;
}

export interface Searx {
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts searx on a free port of loopback, with that site as its one engine. */
export async function startSearx(site: SearchedSite): Promise<Searx> {
  const folder = mkdtempSync(path.join(tmpdir(), 'wcs-searx-'));
  const free = createServer();
  const port = await listen(free);
  await closed(free);
  const example = parse(readFileSync(EXAMPLE, 'utf8'));
  const settings = {
    ...example,
    search: { ...example.search, formats: ['html', 'json'] },
    server: { ...example.server, port, bind_address: '127.0.0.1', secret_key: 'of-a-test', base_url: false },
    ui: {
      ...example.ui,
      static_path: path.join(RESOURCES, 'static'),
      templates_path: path.join(RESOURCES, 'templates'),
    },
    engines: [
      {
        name: 'local',
        engine: 'json_engine',
        shortcut: 'lo',
        enable_http: true,
        search_url: `http://127.0.0.1:${site.port}/?q={query}`,
        results_query: 'results',
        url_query: 'url',
        title_query: 'title',
        content_query: 'content',
        categories: 'general',
      },
    ],
  };
  const file = path.join(folder, 'settings.yml');
  writeFileSync(file, stringify(settings));
  const child = spawn('/usr/bin/python3', ['-m', 'searx.webapp'], {
    cwd: folder,
    env: {
      PYTHONPATH: PACKAGES,
      LD_LIBRARY_PATH: globSync(path.join(ROOT, 'usr/lib/*-linux-gnu')).join(':'),
      SEARX_SETTINGS_PATH: file,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  child.stderr.on('data', (chunk: Buffer) => {
    log = (log + chunk.toString()).slice(-4_000);
  });
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()));
  const url = `http://127.0.0.1:${port}`;
  await eventually(
    async () => {
      if (child.exitCode !== null) throw new Error(`searx ended:\n${log}`);
      return fetch(url).then(
        () => true,
        () => false,
      );
    },
    (up) => up,
  );
  return {
    url,
    async stop() {
      child.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

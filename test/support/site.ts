import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listenAlone } from './ports.ts';

type Respond = (request: IncomingMessage, response: ServerResponse) => void;

/** A stranger's web site on loopback. Paths that it does not have are 404. */
export interface Site {
  /** Its address by a name: `http://<name>.localhost:port`. */
  at(path: string, name?: string): string;
  /** What it does with a path. */
  readonly pages: Map<string, Respond>;
  /** Paths requested, in their order, and their headers. */
  readonly requests: { readonly path: string; readonly headers: IncomingMessage['headers'] }[];
  close(): Promise<void>;
}

export async function startSite(): Promise<Site> {
  const pages = new Map<string, Respond>();
  const requests: Site['requests'] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    requests.push({ path, headers: request.headers });
    const respond = pages.get(path);
    if (respond === undefined) response.writeHead(404).end();
    else respond(request, response);
  });
  const port = await listenAlone(server, '127.0.0.1');
  return {
    at: (path, name = 'site') => `http://${name}.localhost:${port}${path}`,
    pages,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Responds with HTML. */
export const html =
  (body: string | Uint8Array, type = 'text/html; charset=utf-8'): Respond =>
  (_, response) => {
    response.writeHead(200, { 'content-type': type }).end(body);
  };

/** Redirects. */
export const redirect =
  (location: string, status = 302): Respond =>
  (_, response) => {
    response.writeHead(status, { location }).end();
  };

/** A page with a title and paragraphs, as a site would have it. */
export const article = (title: string, paragraphs: readonly string[], head = ''): string =>
  `<!doctype html><html lang="en"><head><title>${title}</title>${head}</head><body><nav><a href="/">Home</a> <a href="/about">About</a></nav>
  <main><article><h1>${title}</h1>${paragraphs.map((text) => `<p>${text}</p>`).join('\n')}</article></main><footer>All rights reserved</footer></body></html>`;

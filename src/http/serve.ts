import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import type { Logger } from 'pino';
import { ServiceError } from '../errors.ts';
import { toProblem } from './problems.ts';

export interface ServeOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly logger: Logger;
  /** Milliseconds that requests in flight get to finish at `close`; 25 s by default. */
  readonly drainTimeout?: number;
}

export interface RunningServer {
  /** Where it listens, such as `http://127.0.0.1:3000`. */
  readonly url: string;
  /** Stops accepting, waits for requests in flight, and cuts off what outlives the deadline. */
  readonly close: () => Promise<void>;
}

/** Any Hono app whose handlers may look at Node's own request. */
interface App {
  readonly fetch: (request: Request, env: HttpBindings) => Response | Promise<Response>;
}

const urlOf = ({ address, port, family }: AddressInfo): string =>
  `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;

/** Refuses what never reaches the app: a request target or Host header that makes no valid URL. */
const malformed = (): Response => {
  const requestId = randomUUID();
  const error = new ServiceError('INVALID_REQUEST', 'The request line or the Host header is malformed.');
  return new Response(JSON.stringify(toProblem(error, requestId)), {
    status: 400,
    headers: { 'Content-Type': 'application/problem+json', 'X-Request-Id': requestId },
  });
};

/**
 * Listens on host and port.
 * @throws when the address is taken or not this machine's
 */
export async function serveHttp(app: App, options: ServeOptions): Promise<RunningServer> {
  const { host, port, logger, drainTimeout = 25_000 } = options;
  const listener = getRequestListener((request, env) => app.fetch(request, env as HttpBindings), {
    errorHandler: malformed,
  });
  const server = createServer(
    {
      // A whole request, body included, must arrive within 30 s, its headers within 10 s.
      requestTimeout: 30_000,
      headersTimeout: 10_000,
      keepAliveTimeout: 65_000,
      connectionsCheckingInterval: 5_000,
      maxHeaderSize: 16 * 1024,
    },
    listener,
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  server.on('error', (error) => logger.error({ message: error.message }, 'HTTP server error'));

  const close = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    const deadline = setTimeout(() => {
      logger.warn('requests still in flight at the deadline were cut off');
      server.closeAllConnections();
    }, drainTimeout);
    // A connection whose request has ended would be kept open for the next one.
    const sweep = setInterval(() => server.closeIdleConnections(), 50);
    await closed;
    clearInterval(sweep);
    clearTimeout(deadline);
  };
  let closing: Promise<void> | undefined;
  return {
    url: urlOf(server.address() as AddressInfo),
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

import { randomUUID } from 'node:crypto';
import { createServer, type ServerResponse, STATUS_CODES } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import type { Logger } from 'pino';
import { errorCode } from '../error-text.ts';
import { ServiceError } from '../errors.ts';
import { toProblem } from './problems.ts';

const MAX_HEADER_BYTES = 16 * 1024;
/** Longer than any request waits for its response. */
const STALL_TIMEOUT_MS = 120_000;

export interface ServeOptions {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  readonly logger: Logger;
  /** How long requests in flight may take at `close`, in milliseconds; 25 s by default. */
  readonly drainTimeout?: number;
  /** An idle connection is closed after this many milliseconds; 2 minutes by default. */
  readonly stallTimeout?: number;
}

export interface RunningServer {
  /** The base URL, such as `http://127.0.0.1:3000`. */
  readonly url: string;
  /** Stops accepting, waits for requests in flight, and cuts off what outlives the deadline. */
  readonly close: () => Promise<void>;
}

/** Any Hono app whose handlers may use Node's own request. */
interface App {
  readonly fetch: (request: Request, env: HttpBindings) => Response | Promise<Response>;
}

const urlOf = ({ address, port, family }: AddressInfo): string =>
  `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;

/** A problem document for what never reaches the app, and its headers. */
function problemOf(status: number, message: string): { body: string; headers: Record<string, string> } {
  const requestId = randomUUID();
  const problem = toProblem(new ServiceError('INVALID_REQUEST', message), requestId);
  return {
    body: JSON.stringify({ ...problem, status }),
    headers: { 'Content-Type': 'application/problem+json', 'X-Request-Id': requestId },
  };
}

/** The response to a request target or Host header that makes no valid URL. */
const malformed = (): Response => {
  const { body, headers } = problemOf(400, 'The request line or the Host header is malformed.');
  return new Response(body, { status: 400, headers });
};

const NO_HTTP = { status: 400, message: 'This is not a valid HTTP request.' };
const REFUSALS: Readonly<Record<string, typeof NO_HTTP>> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    message: `The request line and the headers may have at most ${MAX_HEADER_BYTES} bytes in all.`,
  },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: 'The request did not arrive in time.' },
};

/** Responds to what the parser refuses, and closes: the rest of the connection could be anything. */
function refuse(error: Error, socket: Duplex): void {
  const code = errorCode(error) ?? '';
  if (!socket.writable || code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const { status, message } = REFUSALS[code] ?? NO_HTTP;
  const { body, headers } = problemOf(status, message);
  const lines = Object.entries({
    ...headers,
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
  });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head}\r\n${body}`, () => socket.destroy());
}

/**
 * Listens on host and port.
 * @throws when the address is taken or not this machine's
 */
export async function serveHttp(app: App, options: ServeOptions): Promise<RunningServer> {
  const { host, port, logger, drainTimeout = 25_000, stallTimeout = STALL_TIMEOUT_MS } = options;
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
      maxHeaderSize: MAX_HEADER_BYTES,
    },
    listener,
  );
  const unused = new Set<Socket>();
  server.on('connection', (socket) => {
    unused.add(socket);
    socket.on('close', () => unused.delete(socket));
  });
  const responses = new WeakMap<Duplex, ServerResponse>();
  server.on('request', ({ socket }, response) => {
    unused.delete(socket);
    responses.set(socket, response);
    response.on('close', () => responses.delete(socket));
  });
  // In the middle of a response another one would be taken for a part of it.
  server.on('clientError', (error, socket) =>
    responses.get(socket)?.headersSent ? socket.destroy() : refuse(error, socket),
  );
  // An unknown expectation is ignored.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  // Otherwise a client that reads nothing would keep its response in memory forever.
  server.setTimeout(stallTimeout);
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
    // Closes idle connections: after a request they would be kept open for the next, before any for the first.
    const sweep = setInterval(() => {
      server.closeIdleConnections();
      for (const socket of unused) socket.destroy();
    }, 50);
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

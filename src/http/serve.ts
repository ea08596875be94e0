import { randomUUID } from 'node:crypto';
import { createServer, type ServerResponse, STATUS_CODES } from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import type { Logger } from 'pino';
import { errorCode } from '../error-text.ts';
import { ServiceError } from '../errors.ts';
import { createClientAddress, createTrust } from './client-address.ts';
import { createConnections } from './connections.ts';
import { toProblem } from './problems.ts';

const MAX_HEADER_BYTES = 16 * 1024;
/** How long nothing may move, except while a client waits for its response. */
const STALL_TIMEOUT_MS = 60_000;
const HEADERS_TIMEOUT_MS = 10_000;
/** How often connections are looked at for these limits, and how many that were too late end in one round of the loop. */
const TIMEOUT_CHECK_MS = 500;
const LATE_A_ROUND = 20;
/** Headers and body together. */
const REQUEST_TIMEOUT_MS = 600_000;
/** Bytes buffered of a body, and of a response, before we read or write no more. */
const BUFFERED_BYTES = 16 * 1024;
export const MAX_CONNECTIONS = 4_000;

export interface ServeOptions {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  readonly logger: Logger;
  /** How long requests in flight may take at `close`, in milliseconds; 25 s by default. */
  readonly drainTimeout?: number;
  /** A connection on which nothing moves is closed after this many milliseconds; 1 minute by default. */
  readonly stallTimeout?: number;
  /** How long a connection has for the headers of a request, in milliseconds; 10 s by default. */
  readonly headersTimeout?: number;
  /** 4,000 by default. */
  readonly maxConnections?: number;
  /** Connections of one peer; 200 by default. */
  readonly maxPerPeer?: number;
  /** Addresses or CIDR ranges of peers that have no limit of their own. */
  readonly trustedProxies?: readonly string[];
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
const TOO_LATE = 'ERR_HTTP_REQUEST_TIMEOUT';
const REFUSALS: Readonly<Record<string, typeof NO_HTTP>> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    message: `The request line and the headers may have at most ${MAX_HEADER_BYTES} bytes in all.`,
  },
  [TOO_LATE]: { status: 408, message: 'The request did not arrive in time.' },
};

const isUnused = (socket: Duplex): boolean => socket instanceof Socket && socket.bytesRead === 0;

/** Responds to what the parser refuses, and closes: the rest of the connection could be anything. */
function refuse(error: Error, socket: Duplex): void {
  const code = errorCode(error) ?? '';
  if (!socket.writable || code === 'ECONNRESET' || isUnused(socket)) {
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

/** Does work on many connections a few in each round of the event loop, so that requests are served in between. */
function inRounds(most: number, work: (error: Error, socket: Duplex) => void): typeof work {
  const waiting: Parameters<typeof work>[] = [];
  const round = (): void => {
    for (const [error, socket] of waiting.splice(0, most)) work(error, socket);
    if (waiting.length > 0) setImmediate(round);
  };
  return (error, socket) => {
    if (waiting.push([error, socket]) === 1) setImmediate(round);
  };
}

/**
 * Listens on host and port.
 * @throws when the address is taken or not this machine's
 */
export async function serveHttp(app: App, options: ServeOptions): Promise<RunningServer> {
  const { host, port, logger, drainTimeout = 25_000, stallTimeout = STALL_TIMEOUT_MS } = options;
  const clientOf = createClientAddress([]);
  const isTrusted = createTrust(options.trustedProxies ?? []);
  const connections = createConnections({
    total: options.maxConnections ?? MAX_CONNECTIONS,
    perPeer: options.maxPerPeer,
    peerOf: (address) => (isTrusted(address) ? null : clientOf(address, null)),
  });
  const listener = getRequestListener((request, env) => app.fetch(request, env as HttpBindings), {
    errorHandler: malformed,
  });
  const server = createServer(
    {
      requestTimeout: REQUEST_TIMEOUT_MS,
      headersTimeout: options.headersTimeout ?? HEADERS_TIMEOUT_MS,
      keepAliveTimeout: 65_000,
      highWaterMark: BUFFERED_BYTES,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
    },
    listener,
  );
  server.on('connection', connections.add);
  const responses = new WeakMap<Duplex, ServerResponse>();
  server.on('request', ({ socket }, response) => {
    connections.requestBegins(socket);
    responses.set(socket, response);
    response.once('close', () => {
      connections.requestEnds(socket);
      if (responses.get(socket) === response) responses.delete(socket);
    });
  });
  // Thousands may be too late at once. A request that has come by then is served.
  const refuseLate = inRounds(LATE_A_ROUND, (error, socket) => {
    if (!responses.has(socket)) refuse(error, socket);
  });
  server.on('clientError', (error, socket) => {
    const response = responses.get(socket);
    // In the middle of a response another one would be taken for a part of it.
    if (response?.headersSent) socket.destroy();
    else if (response === undefined && errorCode(error) === TOO_LATE) refuseLate(error, socket);
    else refuse(error, socket);
  });
  // An unknown expectation is ignored.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  // Otherwise a client that reads nothing would keep its response in memory forever.
  server.setTimeout(stallTimeout, (socket: Socket) => {
    const response = responses.get(socket);
    const waitsForUs = response !== undefined && !response.headersSent && response.req.complete;
    if (waitsForUs) socket.setTimeout(stallTimeout);
    else socket.destroy();
  });
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
      connections.closeUnused();
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

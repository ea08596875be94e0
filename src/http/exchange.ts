import { randomUUID } from 'node:crypto';
import { writeSync } from 'node:fs';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import type { Logger } from 'pino';
import type { KeyActor } from '../context.ts';
import { redactSecrets } from '../error-text.ts';
import { ServiceError } from '../errors.ts';
import { createFairQueue } from '../fair-queue.ts';
import { writeJson } from '../json-text.ts';
import { type Report, toProblem, toServiceError, UNEXPECTED } from './problems.ts';

/** What is known of a request from its start to its log line. */
export interface Exchange {
  readonly requestId: string;
  readonly startedAt: number;
  /** The client, as rate limits and the log name it. */
  readonly address: string;
  /** Headers of its response beyond those of every response. */
  readonly headers: Record<string, string>;
  actor?: KeyActor;
  status: number;
  /** Characters of the response that are in memory at once. */
  size: number;
}

/** One finished request, for metrics. */
export interface Observation {
  /** The route's path in OpenAPI form, `unmatched` for none: never raw text of a client. */
  readonly route: string;
  readonly method: string;
  readonly status: number;
  readonly seconds: number;
}

const SAFE_REQUEST_ID = /^[A-Za-z0-9._:/+=@-]{1,128}$/;

/** The client's own id when its characters are harmless in headers and logs, else a new one. */
function requestIdOf(header: string | null): string {
  if (header === null || !SAFE_REQUEST_ID.test(header) || redactSecrets(header) !== header)
    return randomUUID();
  return header;
}

const COMMON_HEADERS = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'Strict-Transport-Security': 'max-age=31536000',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
};

/** A response with the common headers; `headers` win over them. */
export function respond(
  exchange: Exchange,
  status: number,
  body: string | ReadableStream<Uint8Array> | null,
  headers: Readonly<Record<string, string>>,
): Response {
  exchange.status = status;
  exchange.size = typeof body === 'string' ? body.length : 0;
  return new Response(body, {
    status,
    headers: { ...COMMON_HEADERS, 'X-Request-Id': exchange.requestId, ...exchange.headers, ...headers },
  });
}

export const jsonResponse = (
  exchange: Exchange,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Response => respond(exchange, status, writeJson(body), { 'Content-Type': 'application/json', ...headers });

/** The response when building the error response failed: it needs nothing that could fail. */
const lastResortResponse = (exchange: Exchange): Response =>
  respond(
    exchange,
    500,
    JSON.stringify(toProblem(new ServiceError('INTERNAL_ERROR', UNEXPECTED), exchange.requestId)),
    { 'Content-Type': 'application/problem+json' },
  );

function problemResponse(exchange: Exchange, error: unknown, report: Report): Response {
  const refusal = toServiceError(error, report, exchange.requestId);
  const problem = toProblem(refusal, exchange.requestId);
  return respond(exchange, problem.status, JSON.stringify(problem), {
    'Content-Type': 'application/problem+json',
    ...(problem.status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {}),
    ...(problem.status === 503 ? { 'Retry-After': '5' } : {}),
    ...(refusal.retryAfter === undefined ? {} : { 'Retry-After': String(refusal.retryAfter) }),
    // Nor is the rest of a body that was refused unread.
    ...(problem.status === 413 ? { Connection: 'close' } : {}),
  });
}

const MIB = 1024 * 1024;
/** Larger responses, in characters, hold memory until the client has received them. */
const LARGE_RESPONSE = 64 * 1024;
/** Memory for them, in characters: bounds clients that read slowly or send many requests at once. */
const SENDING = { total: 64 * MIB, perOwner: 16 * MIB, maxWaiting: 32 };

const tooManyUnread = (): ServiceError =>
  new ServiceError(
    'SERVICE_UNAVAILABLE',
    'Finish reading the large responses to earlier requests, then try again.',
  );

export interface ExchangeDependencies {
  /** How long a large response waits for earlier ones to be received, in milliseconds. */
  readonly waitMs: number;
  readonly logger: Logger;
  readonly clientAddress: (peer: string | undefined, forwardedFor: string | null) => string;
  readonly observe?: ((observation: Observation) => void) | undefined;
}

/** Writes what the log refused directly to stderr. */
function writeStderr(level: string, fields: object, message: string): void {
  try {
    writeSync(2, `${JSON.stringify({ level, ...fields, message })}\n`);
  } catch {
    // There is nowhere left to report to, and the response still has to be sent.
  }
}

/** Writes a log line even when the log fails. */
const neverThrow =
  (logger: Logger) =>
  (level: 'debug' | 'info' | 'error', fields: object, message: string): void => {
    try {
      logger[level](fields, message);
    } catch {
      writeStderr(level, fields, message);
    }
  };

export type Env = { Bindings: Partial<HttpBindings> };

/**
 * Wraps the work of one request: gives it an id, turns whatever it throws into a problem response, and writes the log
 * line, which names the route and never a raw path, header, query or body.
 */
export function createExchanges({ waitMs, logger, clientAddress, observe }: ExchangeDependencies) {
  const sending = createFairQueue({ ...SENDING, refusal: tooManyUnread });
  // Its fields are all named below and hold no secret: redaction would only cost time.
  const line = neverThrow(logger.child({}, { redact: [] }));
  const report = neverThrow(logger);

  const errorResponse = (exchange: Exchange, error: unknown): Response => {
    try {
      return problemResponse(exchange, error, (fields, message) => report('error', fields, message));
    } catch {
      // What was thrown cannot even be inspected.
      report('error', { requestId: exchange.requestId }, 'an error could not be described');
      return lastResortResponse(exchange);
    }
  };

  /** Waits until there is memory for a large response, which holds it until the client has it all or is gone. */
  const holdMemory = async ({ actor, address, size }: Exchange, c: Context<Env>): Promise<void> => {
    const outgoing = c.env?.outgoing;
    if (size <= LARGE_RESPONSE || outgoing === undefined) return;
    const claim = { amount: size, waitMs };
    try {
      const release = await sending.take(actor?.workspaceId ?? address, claim);
      if (outgoing.closed) release();
      else outgoing.once('close', release);
    } catch (error) {
      if (c.req.method === 'GET' || c.req.method === 'HEAD') throw error;
      // The change is committed, and a 503 would deny it.
      outgoing.destroy();
    }
  };

  return (route: string, work: (exchange: Exchange, c: Context<Env>) => Promise<Response>, quiet = false) =>
    async (c: Context<Env>): Promise<Response> => {
      const headers = c.req.raw.headers;
      const peer = c.env?.incoming?.socket.remoteAddress;
      const exchange: Exchange = {
        requestId: requestIdOf(headers.get('x-request-id')),
        startedAt: performance.now(),
        address: clientAddress(peer, headers.get('x-forwarded-for')),
        headers: {},
        status: 500,
        size: 0,
      };
      let response: Response;
      try {
        response = await work(exchange, c);
        await holdMemory(exchange, c);
      } catch (error) {
        response = errorResponse(exchange, error);
      }
      const { requestId, actor, status, address } = exchange;
      const milliseconds = performance.now() - exchange.startedAt;
      const method = c.req.method;
      line(
        quiet ? 'debug' : 'info',
        {
          requestId,
          method,
          route,
          status,
          milliseconds: Math.round(milliseconds * 10) / 10,
          address,
          ...(actor === undefined ? {} : { keyId: actor.keyId, workspaceId: actor.workspaceId }),
        },
        'request',
      );
      try {
        observe?.({ route, method, status, seconds: milliseconds / 1000 });
      } catch {
        report('error', { requestId }, 'a request was not counted');
      }
      return response;
    };
}

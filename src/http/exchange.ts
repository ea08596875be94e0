import { randomUUID } from 'node:crypto';
import { writeSync } from 'node:fs';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import type { Logger } from 'pino';
import { redactSecrets } from '../error-text.ts';
import { ServiceError, type UnavailableCause } from '../errors.ts';
import { writeJson } from '../json-text.ts';
import type { Holding, Room } from '../room.ts';
import { tenants } from '../tenants.ts';
import { type Report, toProblem, toServiceError, UNEXPECTED } from './problems.ts';
import type { Progress } from './progress.ts';
import { endRequestSpan, type Spanned } from './request-span.ts';
import { SENT_AT_ONCE, sendBody } from './sent-body.ts';
import { createUnreadBodies, isUnread } from './unread-body.ts';

/** What is known of a request from its start to its log line. */
export interface Exchange extends Spanned {
  readonly requestId: string;
  /** The client, as rate limits and the log name it. */
  readonly address: string;
  /** Headers of its response beyond those of every response. */
  readonly headers: Record<string, string>;
  /** Memory that the request holds until its response is sent; of strangers until it is known whose request it is. */
  room: Holding;
  status: number;
  /** Of a 503: what was short. */
  unavailable?: UnavailableCause | undefined;
  /** Starts sending a body in pieces. */
  readonly send: (body: Uint8Array | ReadableStream<Uint8Array>) => ReadableStream<Uint8Array>;
}

/** One finished request, for metrics. */
export interface Observation {
  /** The route's path in OpenAPI form, `unmatched` for none: never raw text of a client. */
  readonly route: string;
  readonly method: string;
  readonly status: number;
  readonly seconds: number;
  /** Of a 503 that is a refusal: what was short. */
  readonly unavailable: UnavailableCause | undefined;
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
  body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null,
  headers: Readonly<Record<string, string>>,
): Response {
  exchange.status = status;
  const all = { ...COMMON_HEADERS, 'X-Request-Id': exchange.requestId, ...exchange.headers, ...headers };
  const inPieces = body instanceof ReadableStream || (body?.length ?? 0) > SENT_AT_ONCE;
  if (body === null || typeof body === 'string' || !inPieces)
    return new Response(body, { status, headers: all });
  const length = body instanceof Uint8Array ? { 'Content-Length': String(body.byteLength) } : {};
  return new Response(exchange.send(body), { status, headers: { ...all, ...length } });
}

/** The value as the bytes of a JSON body; a short one stays text. */
export function jsonBody(value: unknown): string | Uint8Array<ArrayBuffer> {
  const text = writeJson(value);
  return text.length > SENT_AT_ONCE / 4 ? Buffer.from(text) : text;
}

export const jsonResponse = (exchange: Exchange, status: number, body: unknown): Response =>
  respond(exchange, status, jsonBody(body), JSON_TYPE);

export const JSON_TYPE = { 'Content-Type': 'application/json' };

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
  exchange.unavailable = refusal.unavailable;
  const problem = toProblem(refusal, exchange.requestId);
  return respond(exchange, problem.status, JSON.stringify(problem), {
    'Content-Type': 'application/problem+json',
    ...(problem.status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {}),
    ...(problem.status === 503 ? { 'Retry-After': '5' } : {}),
    ...(refusal.retryAfter === undefined ? {} : { 'Retry-After': String(refusal.retryAfter) }),
    // Nor is the rest of a body that was refused unread.
    ...(problem.status === 413 || problem.status === 408 ? { Connection: 'close' } : {}),
  });
}

export interface ExchangeDependencies {
  /** The memory of requests that no workspace is known for. */
  readonly strangers: Room;
  readonly progress: Progress;
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
export function createExchanges({
  strangers,
  progress,
  logger,
  clientAddress,
  observe,
}: ExchangeDependencies) {
  // Its fields are all named below and hold no secret: redaction would only cost time.
  const line = neverThrow(logger.child({}, { redact: [] }));
  const report = neverThrow(logger);
  const unread = createUnreadBodies();

  const errorResponse = (exchange: Exchange, error: unknown): Response => {
    try {
      return problemResponse(exchange, error, (fields, message) => report('error', fields, message));
    } catch {
      // What was thrown cannot even be inspected.
      report('error', { requestId: exchange.requestId }, 'an error could not be described');
      return lastResortResponse(exchange);
    }
  };

  return (route: string, work: (exchange: Exchange, c: Context<Env>) => Promise<Response>, quiet = false) =>
    async (c: Context<Env>): Promise<Response> => {
      const headers = c.req.raw.headers;
      const peer = c.env?.incoming?.socket.remoteAddress;
      const address = clientAddress(peer, headers.get('x-forwarded-for'));
      const outgoing = c.env?.outgoing;
      const socket = c.env?.incoming?.socket;
      const writtenBefore = socket?.bytesWritten ?? 0;
      const exchange: Exchange = {
        requestId: requestIdOf(headers.get('x-request-id')),
        startedAt: performance.now(),
        address,
        headers: {},
        room: strangers.open(address),
        status: 500,
        send: (body) => sendBody(body, progress, () => outgoing?.destroy()),
      };
      let response: Response;
      try {
        response = await work(exchange, c);
      } catch (error) {
        exchange.room.release();
        response = errorResponse(exchange, error);
      }
      const incoming = c.env?.incoming;
      if (incoming !== undefined && isUnread(incoming) && !response.headers.has('Connection')) {
        const isWhole = await unread.drain(incoming, exchange.actor?.workspaceId ?? address);
        if (!isWhole) response.headers.set('Connection', 'close');
      }
      const { requestId, actor, span, status } = exchange;
      if (actor !== undefined) {
        tenants.count(actor.workspaceId, 'requests', 1);
        if (status >= 400) tenants.count(actor.workspaceId, 'refusals', 1);
      }
      const sent = (): void => {
        exchange.room.release();
        if (actor === undefined) return;
        // As much as was handed to the connection, whatever the client took.
        tenants.count(actor.workspaceId, 'bytes', (socket?.bytesWritten ?? 0) - writtenBefore);
      };
      if (outgoing === undefined || outgoing.closed) sent();
      else outgoing.once('close', sent);
      const milliseconds = performance.now() - exchange.startedAt;
      const traceId = span?.isRecording() ? span.spanContext().traceId : undefined;
      if (span !== undefined) endRequestSpan(span, status);
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
          ...(traceId === undefined ? {} : { traceId }),
        },
        'request',
      );
      try {
        observe?.({ route, method, status, seconds: milliseconds / 1000, unavailable: exchange.unavailable });
      } catch {
        report('error', { requestId }, 'a request was not counted');
      }
      return response;
    };
}

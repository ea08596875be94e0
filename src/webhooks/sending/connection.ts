import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import { Client, type Dispatcher } from 'undici';
import { describeNetworkError, NothingWritten, SendFailure } from '../../outbound/failure.ts';

export interface HttpRequest {
  url: URL;
  headers: Record<string, string>;
  body: Uint8Array;
}

/** What came back on one connection. The status line alone decides; the body may be cut. */
export interface HttpAnswer {
  status: number;
  /** The Location header; null when it is missing, empty or repeated. */
  location: string | null;
  bodyText: string;
  /** False when the rest of the body was left unread, so the connection is gone. */
  complete: boolean;
}

/** One connected socket that speaks HTTP/1.1, one request at a time. */
export interface Connection {
  readonly socket: Socket;
  readonly openedAt: number;
  /** Whether the socket still looks alive. */
  isOpen(): boolean;
  /**
   * Posts a request and reads its answer until the body ends, `maxBytes` of it were read or the signal aborts.
   * @throws NothingWritten when the connection was lost before the request was written, SendFailure for any
   * other network error before the status line was read, or the signal's reason.
   */
  post(request: HttpRequest, limits: { maxBytes: number; signal: AbortSignal }): Promise<HttpAnswer>;
  close(): void;
}

const KEPT_TEXT_BYTES = 1_024;
/** The body of a redirect to follow is of little interest. */
const REDIRECT_BODY_MS = 500;
/** Shorter than the idle time of common servers (Node closes after 5 s), so that an idle socket is rarely a dead one. */
const IDLE_MS = 4_000;
const MAX_HEADER_BYTES = 16 * 1_024;

/** Wraps a socket that is already connected; undici neither resolves nor dials anything itself. */
export function openConnection(origin: string, socket: Socket): Connection {
  let handedOver = false;
  const client = new Client(origin, {
    allowH2: false,
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: IDLE_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
    connect(_options, callback) {
      // Asked a second time, the first socket is lost. A plain error: undici would retry a SocketError.
      if (handedOver) return callback(new Error('The connection was lost.'), null);
      handedOver = true;
      // Not at once: undici would miss it while it is still starting the connect.
      queueMicrotask(() => callback(null, socket));
    },
  });
  const close = (): void => {
    socket.destroy();
    // Rejects nobody who listens: the request in flight has its own error.
    client.destroy().catch(() => undefined);
  };
  return {
    socket,
    openedAt: performance.now(),
    isOpen: () => !socket.destroyed && socket.readable && socket.writable,
    post: (request, { maxBytes, signal }) =>
      new Promise((resolve, reject) => {
        signal.throwIfAborted();
        const reader = createReader(maxBytes, {
          settle(result) {
            signal.removeEventListener('abort', abort);
            if ('failure' in result) reject(result.failure);
            else resolve(result.answer);
          },
          close,
        });
        const abort = (): void => reader.giveUp(signal.reason);
        signal.addEventListener('abort', abort, { once: true });
        const { pathname, search } = request.url;
        const { headers, body } = request;
        client.dispatch({ method: 'POST', path: `${pathname}${search}`, headers, body }, reader.handler);
      }),
    close,
  };
}

interface ReaderExits {
  settle(result: { answer: HttpAnswer } | { failure: unknown }): void;
  close(): void;
}

/** Collects one answer from undici's events, and settles exactly once. */
function createReader(maxBytes: number, exits: ReaderExits) {
  let written = false;
  let settled = false;
  let start: { status: number; location: string | null } | null = null;
  let readBytes = 0;
  let redirectTimer: NodeJS.Timeout | undefined;
  const kept: Buffer[] = [];

  const settle = (result: { answer: HttpAnswer } | { failure: unknown }): void => {
    if (settled) return;
    settled = true;
    clearTimeout(redirectTimer);
    exits.settle(result);
  };
  /** Ends the reading: with the answer if its status line was read, else with the failure. */
  const finish = (complete: boolean, failure: unknown): void => {
    if (start === null) settle({ failure });
    else settle({ answer: { ...start, bodyText: toText(Buffer.concat(kept)), complete } });
    if (!complete) exits.close();
  };
  const giveUp = (reason: unknown): void => finish(false, reason);

  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(controller) {
      if (settled) controller.abort(new NothingWritten('The attempt is over.'));
      else written = true;
    },
    onResponseStart(_controller, status, headers) {
      if (status < 200) return;
      start = { status, location: locationOf(headers) };
      const isRedirect = status >= 300 && status <= 399 && start.location !== null;
      if (isRedirect) redirectTimer = setTimeout(() => finish(false, null), REDIRECT_BODY_MS);
    },
    onResponseData(_controller, chunk) {
      if (readBytes < KEPT_TEXT_BYTES) kept.push(chunk.subarray(0, KEPT_TEXT_BYTES - readBytes));
      readBytes += chunk.length;
      if (readBytes >= maxBytes) finish(false, null);
    },
    onResponseEnd() {
      finish(true, null);
    },
    onResponseError(_controller, error) {
      if (isInvalidArgument(error)) settle({ failure: error });
      const message = describeNetworkError(error);
      finish(false, written ? new SendFailure(message) : new NothingWritten(message));
    },
  };
  return { handler, giveUp };
}

function locationOf(headers: IncomingHttpHeaders): string | null {
  const { location } = headers;
  if (typeof location !== 'string' || location === '') return null;
  // Header bytes arrive as Latin-1 characters, while a URL's are UTF-8 (Fetch standard, location URL).
  return Buffer.from(location, 'latin1').toString();
}

/** undici refuses a header we made: a fault of this program and not of the receiver. */
function isInvalidArgument(error: Error): boolean {
  return 'code' in error && error.code === 'UND_ERR_INVALID_ARG';
}

/** At most 1 KiB of valid UTF-8 without NULs; a character cut at the end is left out. */
function toText(bytes: Buffer): string {
  const text = new TextDecoder().decode(bytes, { stream: true }).replaceAll('\0', '\uFFFD');
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(KEPT_TEXT_BYTES));
  return text.slice(0, read);
}

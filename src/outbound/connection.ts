import type { Socket } from 'node:net';
import { phases } from '../tracing/spans.ts';
import type { Deadline } from './deadline.ts';
import {
  CLOSED_MESSAGE,
  describeNetworkError,
  EndedWithoutResponse,
  NothingWritten,
  SendFailure,
} from './failure.ts';
import { createResponseReader, type HttpResponse } from './response.ts';

export interface HttpRequest {
  url: URL;
  /** Besides host, connection and content-length. */
  headers: Record<string, string>;
  body: Uint8Array;
}

/** One connected socket that speaks HTTP/1.1, one request at a time. */
export interface Connection {
  readonly socket: Socket;
  /** By `performance.now()`. */
  readonly openedAt: number;
  /** How long it was idle in the pool, in milliseconds; 0 when it is fresh. */
  idledMs: number;
  /** Whether the socket still looks alive. */
  isOpen(): boolean;
  /**
   * Posts a request and reads its response until the body ends, `maxBodyBytes` of it were read, a second of
   * it has passed or the time is up.
   * @throws NothingWritten when the connection was lost before, EndedWithoutResponse when it ended before the first
   *   byte of a response, SendFailure for any other error before the head was read, or the reason of the deadline
   */
  post(request: HttpRequest, limits: { maxBodyBytes: number; deadline: Deadline }): Promise<HttpResponse>;
  close(): void;
}

/** How long a body is read: the status has decided already. */
const BODY_MS = 1_000;
const NOT_IN_A_HEADER = /[^\t\x20-\x7e\x80-\xff]/;

/** The request in flight on a connection. */
interface Exchange {
  read(bytes: Buffer): void;
  lost(error: Error | null): void;
}

/** Wraps a socket that is already connected; nothing here resolves or dials. */
export function openConnection(socket: Socket): Connection {
  let exchange: Exchange | null = null;
  // Unsolicited bytes would be taken for the response to the next request.
  socket.on('data', (bytes: Buffer) => (exchange === null ? socket.destroy() : exchange.read(bytes)));
  socket.on('error', (error) => exchange?.lost(error));
  socket.on('end', () => exchange?.lost(null));
  socket.on('close', () => exchange?.lost(null));
  const isOpen = (): boolean => !socket.destroyed && socket.readable && socket.writable;

  return {
    socket,
    openedAt: performance.now(),
    idledMs: 0,
    isOpen,
    close: () => socket.destroy(),
    post: (request, { maxBodyBytes, deadline }) =>
      new Promise((resolve, reject) => {
        const bytes = Buffer.concat([Buffer.from(headOf(request), 'latin1'), request.body]);
        if (!isOpen()) throw new NothingWritten(CLOSED_MESSAGE);
        const reader = createResponseReader(maxBodyBytes);
        const endPhase = phases()('first byte');
        let bodyTimer: NodeJS.Timeout | undefined;
        /** Ends the exchange: with the response if its head was read, else with the failure. */
        const end = (failure: () => unknown): void => {
          exchange = null;
          clearTimeout(bodyTimer);
          deadline.whenOver(null);
          const response = reader.response();
          if (response !== null && socket.writableLength > 0) response.reusableMs = 0;
          if (response === null || response.reusableMs === 0) socket.destroy();
          if (response === null) {
            const reason = failure();
            endPhase(reason);
            reject(reason);
          } else resolve(response);
        };
        exchange = {
          read(received) {
            endPhase();
            try {
              if (reader.read(received)) return end(() => null);
            } catch (error) {
              return end(() => error);
            }
            if (bodyTimer === undefined && reader.head() !== null)
              bodyTimer = setTimeout(end, BODY_MS, () => null);
          },
          lost(error) {
            const message = error === null ? CLOSED_MESSAGE : describeNetworkError(error);
            end(() => (reader.hasBegun() ? new SendFailure(message) : new EndedWithoutResponse(message)));
          },
        };
        deadline.whenOver((reason) => end(() => reason));
        if (socket.destroyed) return;
        socket.write(bytes);
      }),
  };
}

/** @throws TypeError for a header with a line break: a fault of this program */
function headOf({ url, headers, body }: HttpRequest): string {
  let head = `POST ${url.pathname}${url.search} HTTP/1.1\r\nhost: ${url.host}\r\nconnection: keep-alive\r\n`;
  for (const [name, value] of Object.entries(headers)) {
    if (NOT_IN_A_HEADER.test(value))
      throw new TypeError(`The header ${name} has characters that are not allowed in headers.`);
    head += `${name}: ${value}\r\n`;
  }
  return `${head}content-length: ${body.byteLength}\r\n\r\n`;
}

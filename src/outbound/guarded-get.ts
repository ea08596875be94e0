/** GET requests to addresses that others name, through the guarded dial. Redirects are the caller's to follow. */
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import { BLOCKED_ADDRESS_MESSAGE, hostOf } from './address-guard.ts';
import type { Deadline } from './deadline.ts';
import { dial } from './dial.ts';
import { describeNetworkError, SendFailure } from './failure.ts';
import type { AddressGuard, VettedAddress } from './resolver.ts';

const UNRESOLVED = 'The host name of the URL could not be resolved.';

const tooLarge = (maxBytes: number): SendFailure => new SendFailure(`It is larger than ${maxBytes} bytes.`);

export interface GuardedGet {
  readonly guard: AddressGuard;
  readonly deadline: Deadline;
  /** The Accept header. */
  readonly accept: string;
  /** The User-Agent header; the service's name by default. */
  readonly userAgent?: string;
  /** Most bytes of the body. */
  readonly maxBytes: number;
  /** Called with the addresses before one of them is dialled. */
  readonly onResolved?: (addresses: readonly VettedAddress[]) => void;
}

/** A response whose head was read. Its connection is open until `close`. */
export interface GuardedResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The most bytes that the body can have: its Content-Length, else the limit. @throws {SendFailure} beyond the limit */
  bodyBytes(): number;
  /** The body as it comes. */
  readonly chunks: AsyncIterable<Buffer>;
  /** The body in one buffer of `bodyBytes()` bytes, so that no byte is held twice. @throws {SendFailure} */
  readBody(): Promise<Uint8Array>;
  close(): void;
}

/**
 * Sends a GET and reads the head of its response.
 * @param url of a form that `parseReceiverUrl` has checked
 * @throws {SendFailure} whose message may be shown; the reason of the deadline
 */
export async function guardedGet(
  url: URL,
  { guard, deadline, accept, userAgent = 'workspace-content-service', maxBytes, onResolved }: GuardedGet,
): Promise<GuardedResponse> {
  const resolution = await deadline.race(guard.resolve(hostOf(url)));
  if (resolution.kind === 'blocked') throw new SendFailure(BLOCKED_ADDRESS_MESSAGE);
  if (resolution.kind === 'unresolved') throw new SendFailure(UNRESOLVED);
  onResolved?.(resolution.addresses);
  const socket = await dial(url, resolution.addresses, { guard, signal: deadline.signal });
  const response = await deadline
    .race(send(url, socket, { accept, 'user-agent': userAgent }))
    .catch((error: unknown) => {
      socket.destroy();
      throw error;
    });
  const bodyBytes = (): number => {
    const most = Number(response.headers['content-length'] ?? maxBytes);
    if (most > maxBytes) throw tooLarge(maxBytes);
    return most;
  };
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    chunks: response,
    bodyBytes,
    readBody: () => deadline.race(readBody(response, bodyBytes(), maxBytes)),
    close: () => socket.destroy(),
  };
}

/** Sends the request over a connected socket, so that node:http neither resolves nor connects itself. */
function send(
  url: URL,
  socket: Socket,
  headers: Readonly<Record<'accept' | 'user-agent', string>>,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const outgoing = request({
      method: 'GET',
      path: `${url.pathname}${url.search}`,
      createConnection: () => socket,
      headers: {
        host: url.host,
        ...headers,
        // What is packed could unpack to far more than its bytes.
        'accept-encoding': 'identity',
        connection: 'close',
      },
    });
    outgoing.on('response', resolve);
    outgoing.on('error', (error) => reject(new SendFailure(describeNetworkError(error))));
    outgoing.end();
  });
}

async function readBody(response: IncomingMessage, most: number, maxBytes: number): Promise<Uint8Array> {
  const bytes = Buffer.allocUnsafe(most);
  let size = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      if (size + chunk.length > most) throw tooLarge(maxBytes);
      size += chunk.copy(bytes, size);
    }
  } catch (error) {
    if (error instanceof SendFailure) throw error;
    throw new SendFailure('The connection was closed before the whole response had arrived.');
  }
  return bytes.subarray(0, size);
}

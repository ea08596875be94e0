import {
  connect,
  constants,
  createServer,
  type Http2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import { basename } from 'node:path';
import { listenAlone } from './ports.ts';

/** A Temporal server that asks for an API key: passes calls with the right one on, and refuses all others. */
export interface TemporalGate {
  /** host:port */
  readonly address: string;
  /** The key that counts. */
  key: string;
  /** Whether the answer to a call that was passed on gets lost; none does at first. */
  loses: (method: string) => boolean;
  /** Calls that were refused. */
  readonly refused: () => number;
  close(): Promise<void>;
}

/** gRPC's codes for a key that is wrong. */
export const UNAUTHENTICATED = 16;
export const PERMISSION_DENIED = 7;

/** Opens a gate in front of the server at `target` (host:port); `code` is what a refused call is answered. */
export async function openGate(target: string, key: string, code: number): Promise<TemporalGate> {
  const upstream = connect(`http://${target}`);
  upstream.on('error', () => undefined);
  const sessions = new Set<Http2Session>();
  let refused = 0;
  const server = createServer();
  server.on('session', (session) => {
    sessions.add(session);
    session.on('close', () => sessions.delete(session));
    session.on('error', () => undefined);
  });
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined);
    if (headers.authorization === `Bearer ${gate.key}`) {
      pass(stream, headers);
      return;
    }
    refused += 1;
    stream.respond(
      { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': code, 'grpc-message': 'refused' },
      { endStream: true },
    );
  });

  function pass(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    const request = upstream.request(headers);
    const method = basename(headers[':path'] ?? '');
    let trailers: IncomingHttpHeaders = {};
    request.on('error', () => stream.close());
    request.on('trailers', (received) => {
      trailers = received;
    });
    request.on('response', (answer, flags) => {
      if (stream.destroyed || gate.loses(method)) return;
      const endStream = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
      stream.respond(answer, { endStream, waitForTrailers: !endStream });
      if (!endStream) request.pipe(stream);
    });
    stream.on('wantTrailers', () => stream.sendTrailers(trailers));
    stream.on('close', () => request.close());
    stream.pipe(request);
  }

  const port = await listenAlone(server, '127.0.0.1');
  const gate: TemporalGate = {
    address: `127.0.0.1:${port}`,
    key,
    loses: () => false,
    refused: () => refused,
    async close() {
      for (const session of sessions) session.destroy();
      upstream.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
  return gate;
}

import { Agent, request } from 'node:http';

/** A response. `milliseconds` is from the first byte of the request to the last of the response. */
export interface TimedResponse {
  readonly status: number;
  readonly retryAfter: boolean;
  /** Bytes of the body. */
  readonly size: number;
  readonly milliseconds: number;
}

export interface Call {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | undefined;
}

/** No response of the service takes this long. */
const TIMEOUT_MS = 90_000;

/**
 * A client with this many connections. When the server closes the connection before it has read the body (as with 413),
 * the status is that of its response, or 0 without one.
 */
export function createClient(url: string, key: string, connections: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const send = ({ method, path, headers = {}, body }: Call): Promise<TimedResponse> =>
    new Promise((resolve, reject) => {
      const startedAt = performance.now();
      const outgoing = request(
        new URL(url),
        {
          agent,
          method,
          path,
          timeout: TIMEOUT_MS,
          headers: {
            authorization: `Bearer ${key}`,
            ...(body === undefined
              ? {}
              : { 'content-type': 'application/json', 'content-length': String(body.length) }),
            ...headers,
          },
        },
        (response) => {
          let size = 0;
          response.on('data', (chunk: Buffer) => {
            size += chunk.length;
          });
          response.on('end', () =>
            resolve({
              status: response.statusCode ?? 0,
              retryAfter: response.headers['retry-after'] !== undefined,
              size,
              milliseconds: performance.now() - startedAt,
            }),
          );
          response.on('error', reject);
        },
      );
      outgoing.on('timeout', () => outgoing.destroy(new Error('no response in time')));
      outgoing.on('error', (error: NodeJS.ErrnoException) => {
        const milliseconds = performance.now() - startedAt;
        if (error.code !== 'EPIPE' && error.code !== 'ECONNRESET') reject(error);
        else resolve({ status: 0, retryAfter: false, size: 0, milliseconds });
      });
      outgoing.end(body);
    });
  return { send, close: () => agent.destroy() };
}

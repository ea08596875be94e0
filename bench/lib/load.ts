import { Pool } from 'undici';

export interface Load {
  /** Where to send, such as http://127.0.0.1:3000. */
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Connections, each with one request under way at any time. */
  readonly connections: number;
  readonly durationMs: number;
}

export interface Measured {
  readonly perSecond: number;
  readonly responses: number;
}

/**
 * Counts responses with status 200 in a closed loop over kept connections.
 * @throws Error on any other response
 */
export async function measureRate({
  origin,
  path,
  headers,
  connections,
  durationMs,
}: Load): Promise<Measured> {
  const pool = new Pool(origin, { connections, pipelining: 1 });
  let responses = 0;
  let startedAt = 0;
  let endsAt = Number.POSITIVE_INFINITY;
  const loop = async (): Promise<void> => {
    while (performance.now() < endsAt) {
      const { statusCode, body } = await pool.request({ path, method: 'GET', headers });
      const text = await body.text();
      if (statusCode !== 200) throw new Error(`${statusCode} ${text}`);
      responses += 1;
    }
  };
  try {
    startedAt = performance.now();
    endsAt = startedAt + durationMs;
    await Promise.all(Array.from({ length: connections }, loop));
    return { responses, perSecond: (responses * 1_000) / (performance.now() - startedAt) };
  } finally {
    await pool.close();
  }
}

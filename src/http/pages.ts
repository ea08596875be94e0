import type { Context } from 'hono';
import { type Env, type Exchange, jsonResponse } from './exchange.ts';
import type { Readiness } from './readiness.ts';

export interface Page {
  readonly path: string;
  readonly serve: (exchange: Exchange, c: Context<Env>) => Promise<Response>;
  /** For probes: logged at debug level, and not counted against the client's address. */
  readonly probe?: boolean;
}

/** Whether the process is alive, and whether it can serve requests (docs/deployment.md). */
export const createProbes = (readiness: () => Promise<Readiness>): readonly Page[] => [
  { path: '/healthz', probe: true, serve: async (exchange) => jsonResponse(exchange, 200, { status: 'ok' }) },
  {
    path: '/readyz',
    probe: true,
    serve: async (exchange) => {
      const { ready, checks } = await readiness();
      return jsonResponse(exchange, ready ? 200 : 503, { status: ready ? 'ready' : 'not ready', checks });
    },
  },
];

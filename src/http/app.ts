import { OpenAPIHono } from '@hono/zod-openapi';
import type { Context } from 'hono';
import type { Logger } from 'pino';
import { type KeyActor, requirePermissions } from '../context.ts';
import type { Database } from '../db/database.ts';
import { notFound, ServiceError } from '../errors.ts';
import { createBodyReader } from './body.ts';
import { createClientAddress } from './client-address.ts';
import {
  createExchanges,
  type Env,
  type Exchange,
  jsonResponse,
  type Observation,
  respond,
} from './exchange.ts';
import { DEFAULT_BODY_BYTES, type HttpLimits } from './limits.ts';
import { documentRoutes } from './openapi.ts';
import { createProbes, type Page } from './pages.ts';
import { createRateLimiter } from './rate-limits.ts';
import type { Readiness } from './readiness.ts';
import type { RouteModule, RouteRequest } from './route.ts';
import { type Identified, type Identify, type NamedResource, namedResource, scopedParams } from './scope.ts';
import { JsonStream, PAGE_BYTES } from './stream-list.ts';

export interface HttpDependencies {
  /**
   * The database for a caller's request, limited to its workspace's share of the connections. Each transaction reads the
   * caller's authority again.
   */
  readonly databaseOf: (actor: KeyActor) => Database;
  readonly logger: Logger;
  readonly limits: HttpLimits;
  /** Addresses or CIDR ranges whose X-Forwarded-For counts. */
  readonly trustedProxies: readonly string[];
  /** Identifies callers by their keys. */
  readonly identify: Identify;
  /** The result of /readyz. */
  readonly readiness: () => Promise<Readiness>;
  /** Pages without a key, besides the probes; built with the description of the routes. */
  readonly pages: (document: () => object) => readonly Page[];
  /** Called once for every response. */
  readonly observe?: (observation: Observation) => void;
}

const honoPath = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1');
const pattern = (path: string): RegExp =>
  new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`);

/** Finds the methods of a path, or null when no route has it. */
function methodsByPath(routes: readonly { method: string; path: string }[]) {
  const patterns = routes.map(({ method, path }) => ({ method: method.toUpperCase(), path: pattern(path) }));
  return (requested: string): string | null => {
    const methods = new Set(patterns.filter(({ path }) => path.test(requested)).map(({ method }) => method));
    if (methods.size === 0) return null;
    if (methods.has('GET')) methods.add('HEAD');
    return [...methods.add('OPTIONS')].sort().join(', ');
  };
}

/**
 * The service's HTTP edge: routes behind authentication, rate limits and the fixed order of checks (design.md §5), and
 * the pages without a key. CORS is off: no response has its headers.
 */
export function createApp(dependencies: HttpDependencies, routes: readonly RouteModule[]): OpenAPIHono<Env> {
  const { databaseOf, logger, limits } = dependencies;
  const limiter = createRateLimiter(limits);
  const bodies = createBodyReader(limits.largeBodyWaitMs);
  const exchanged = createExchanges({
    waitMs: limits.largeBodyWaitMs,
    logger,
    clientAddress: createClientAddress(dependencies.trustedProxies),
    observe: dependencies.observe,
  });
  const app = new OpenAPIHono<Env>();

  const identify = async (
    exchange: Exchange,
    authorization: string | null,
    named: NamedResource,
  ): Promise<Identified> => {
    await limiter.checkAddress(exchange.address, exchange.headers);
    try {
      const identified = await dependencies.identify(authorization, named);
      exchange.actor = identified.actor;
      return identified;
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'UNAUTHENTICATED') {
        await limiter.recordFailure(exchange.address, exchange.headers);
      }
      throw error;
    }
  };

  const streamed = (
    exchange: Exchange,
    status: number,
    body: JsonStream,
    connection: RouteRequest['connection'],
  ): Response => {
    const stream = body.open((error) => {
      connection?.destroy();
      const { requestId } = exchange;
      logger.error({ requestId, err: error }, 'the rest of a list could not be read');
    });
    const response = respond(exchange, status, stream, { 'Content-Type': 'application/json' });
    // It holds one page at a time.
    exchange.size = PAGE_BYTES;
    return response;
  };

  const serve = (route: RouteModule) => async (exchange: Exchange, c: Context<Env>) => {
    const { scope, permissions, upload, bodyBytes = DEFAULT_BODY_BYTES } = route.definition;
    const { headers } = c.req.raw;
    const connection = c.env?.outgoing;
    const given = c.req.param();
    const named = namedResource(scope, given);
    const { actor, found } = await identify(exchange, headers.get('authorization'), named);
    await limiter.consume(actor, exchange.headers);
    // Unknown, foreign and malformed ids get the same response, so that existence cannot be probed.
    if (!found) throw notFound(scope);
    const params = scopedParams(named, given);
    requirePermissions(actor, ...permissions);
    const body = bodies.open(c.req.raw, {
      limit: upload?.maxBytes ?? bodyBytes,
      json: upload === undefined,
      owner: actor.workspaceId,
      charge: (bytes) => limiter.charge(actor, bytes, exchange.headers),
      connection,
    });
    try {
      const context = { db: databaseOf(actor), actor, requestId: exchange.requestId };
      const result = await route.run({ context, params, url: c.req.url, body, headers, connection });
      if (result.status === 304) return respond(exchange, 304, null, result.headers ?? {});
      if (result.body instanceof JsonStream)
        return streamed(exchange, result.status, result.body, connection);
      return jsonResponse(exchange, result.status, result.body, result.headers);
    } finally {
      body.close();
    }
  };

  for (const route of routes) {
    const { method, path } = route.definition;
    app.on(method.toUpperCase(), honoPath(path), exchanged(path, serve(route)));
  }

  const pages = [...createProbes(dependencies.readiness), ...dependencies.pages(documentRoutes(app, routes))];
  for (const page of pages) {
    const { path, serve, probe = false } = page;
    const limited = async (exchange: Exchange, c: Context<Env>): Promise<Response> => {
      await limiter.consumeAddress(exchange.address, exchange.headers);
      return serve(exchange, c);
    };
    app.get(honoPath(path), exchanged(path, probe ? serve : limited, probe));
  }

  const allowedMethods = methodsByPath([
    ...routes.map(({ definition }) => definition),
    ...pages.map(({ path }) => ({ method: 'get', path })),
  ]);
  app.notFound(
    exchanged('unmatched', async (exchange, c) => {
      await limiter.consumeAddress(exchange.address, exchange.headers);
      const allow = allowedMethods(c.req.path);
      if (allow === null) throw notFound('path');
      exchange.headers.Allow = allow;
      if (c.req.method === 'OPTIONS') return respond(exchange, 204, null, {});
      throw new ServiceError('METHOD_NOT_ALLOWED', `This path allows ${allow}.`);
    }),
  );
  return app;
}

import { OpenAPIHono } from '@hono/zod-openapi';
import type { Context } from 'hono';
import type { Logger } from 'pino';
import { type KeyActor, requirePermissions } from '../context.ts';
import type { Database } from '../db/database.ts';
import { refuseSuspended } from '../db/workspace-state.ts';
import { notFound, ServiceError } from '../errors.ts';
import { tenants } from '../tenants.ts';
import { NoRoom, REQUEST_WAIT_MS } from '../threads/share.ts';
import { timedFor } from '../threads/timed.ts';
import { lightTurn, loopTurn } from '../threads/turns.ts';
import { createBodyReader } from './body.ts';
import { createClientAddress } from './client-address.ts';
import {
  createExchanges,
  type Env,
  type Exchange,
  JSON_TYPE,
  jsonBody,
  type Observation,
  respond,
} from './exchange.ts';
import { DEFAULT_BODY_BYTES, type HttpLimits } from './limits.ts';
import { type DocumentedWebhook, documentRoutes } from './openapi.ts';
import { createProbes, type Page } from './pages.ts';
import { createProgress } from './progress.ts';
import { createRateLimiter } from './rate-limits.ts';
import type { Readiness } from './readiness.ts';
import { inRequestSpan } from './request-span.ts';
import {
  bytesBesidesBody,
  bytesPerBodyByte,
  createRooms,
  type Rooms,
  withEnoughRoom,
  workRoomOf,
} from './rooms.ts';
import type { RouteModule } from './route.ts';
import { type Identified, type Keys, type NamedResource, namedResource, scopedParams } from './scope.ts';
import { JsonStream } from './stream-list.ts';
import { createIdentifyClient } from './unknown-keys.ts';

export interface HttpDependencies {
  /**
   * The database for a caller's request, limited to its workspace's share of the connections. Each transaction reads the
   * caller's authority again.
   */
  readonly databaseOf: (actor: KeyActor) => Database;
  readonly logger: Logger;
  readonly limits: HttpLimits;
  /** The process's memory for requests; one of its own by default. */
  readonly rooms?: Rooms;
  /** Milliseconds that count as a second for the rates of bodies and responses; a second by default. */
  readonly rateTickMs?: number;
  /** Addresses or CIDR ranges whose X-Forwarded-For counts. */
  readonly trustedProxies: readonly string[];
  /** Recognises callers' keys. */
  readonly keys: Keys;
  /** The result of /readyz. */
  readonly readiness: () => Promise<Readiness>;
  /** The requests that the service itself sends, for the document. */
  readonly webhooks?: readonly DocumentedWebhook[];
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
  const { databaseOf, logger, limits, rooms = createRooms() } = dependencies;
  const waitMs = limits.largeBodyWaitMs;
  const limiter = createRateLimiter(limits);
  const identify = createIdentifyClient(dependencies.keys, limiter);
  const { workspaces, strangers } = rooms;
  const progress = createProgress(
    () => workspaces.waiting() + strangers.waiting() > 0,
    dependencies.rateTickMs,
  );
  const bodies = createBodyReader(waitMs, progress);
  const exchanged = createExchanges({
    strangers,
    progress,
    logger,
    clientAddress: createClientAddress(dependencies.trustedProxies, (peer) =>
      logger.warn(
        { peer },
        'X-Forwarded-For comes from an address that TRUSTED_PROXIES does not name: if it is a proxy, its clients share its limits',
      ),
    ),
    observe: dependencies.observe,
  });
  const app = new OpenAPIHono<Env>();

  /** The rest of a list that fails ends the connection: half a list is never taken for a whole one. */
  const open = (exchange: Exchange, c: Context<Env>, body: JsonStream): ReadableStream<Uint8Array> =>
    body.open((error) => {
      c.env?.outgoing?.destroy();
      const { requestId } = exchange;
      logger.error({ requestId, err: error }, 'the rest of a list could not be read');
    });

  const serve = (route: RouteModule) => async (exchange: Exchange, c: Context<Env>) => {
    const { headers } = c.req.raw;
    const named = namedResource(route.definition.scope, c.req.param());
    const identified = await identify(exchange, headers.get('authorization'), named);
    exchange.actor = identified.actor;
    limiter.consume(identified.actor, exchange.headers);
    const asked = { named, identified };
    return inRequestSpan(exchange, route.definition, headers, () =>
      serveIdentified(route, exchange, c, asked),
    );
  };

  const serveIdentified = async (
    route: RouteModule,
    exchange: Exchange,
    c: Context<Env>,
    { named, identified }: { readonly named: NamedResource; readonly identified: Identified },
  ): Promise<Response> => {
    const { definition } = route;
    const { scope, permissions, upload, bodyBytes = DEFAULT_BODY_BYTES } = definition;
    const { headers } = c.req.raw;
    const connection = c.env?.outgoing;
    const { actor, found, articleBytes } = identified;
    await lightTurn({ of: actor.workspaceId, waitMs: REQUEST_WAIT_MS });
    // Unknown, foreign and malformed ids get the same response, so that existence cannot be probed.
    if (!found) throw notFound(scope);
    refuseSuspended(identified);
    const params = scopedParams(named, c.req.param());
    requirePermissions(actor, ...permissions);
    const held = workspaces.open(actor.workspaceId);
    exchange.room = held;
    const besides = bytesBesidesBody(definition, articleBytes);
    const room = workRoomOf(held, besides, waitMs);
    const body = bodies.open(headers, {
      limit: upload?.maxBytes ?? bodyBytes,
      json: upload === undefined,
      perByte: bytesPerBodyByte(definition),
      besides,
      room: held,
      owner: actor.workspaceId,
      charge: async (bytes) => {
        tenants.count(actor.workspaceId, 'bytes', bytes);
        limiter.charge(actor, bytes, exchange.headers);
      },
      incoming: c.env?.incoming,
      connection,
    });
    const hasBody = upload !== undefined || definition.body !== undefined;
    if (!hasBody) await held.take(besides, { waitMs });
    const context = { db: databaseOf(actor), actor, requestId: exchange.requestId };
    const request = { context, params, url: c.req.url, body, headers, connection, room };
    const work = async (): Promise<Response> => {
      const result = await route.run(request);
      if (result.status === 304) return respond(exchange, 304, null, result.headers ?? {});
      // What was claimed for has work left: its text. A change is committed by now, however long it waits.
      if (held.bytes() > 0)
        await loopTurn({
          of: actor.workspaceId,
          waitMs: isChange ? Number.POSITIVE_INFINITY : REQUEST_WAIT_MS,
        });
      // It holds one page at a time.
      if (result.body instanceof JsonStream)
        return respond(exchange, result.status, open(exchange, c, result.body), JSON_TYPE);
      const bytes = timedFor(actor.workspaceId, () => jsonBody(result.body));
      if (!isChange && !room.has(bytes.length)) throw new NoRoom(bytes.length);
      // A change is committed by now, and a 503 would deny it.
      held.insist(bytes.length);
      return respond(exchange, result.status, bytes, { ...JSON_TYPE, ...result.headers });
    };
    const isChange = definition.method !== 'get';
    try {
      return isChange ? await work() : await withEnoughRoom(held, waitMs, work);
    } finally {
      body.close();
    }
  };

  for (const route of routes) {
    const { method, path } = route.definition;
    app.on(method.toUpperCase(), honoPath(path), exchanged(path, serve(route)));
  }

  const pages = [
    ...createProbes(dependencies.readiness),
    ...dependencies.pages(documentRoutes(app, routes, dependencies.webhooks ?? [])),
  ];
  for (const page of pages) {
    const { path, serve, probe = false } = page;
    const limited = async (exchange: Exchange, c: Context<Env>): Promise<Response> => {
      limiter.consumeAddress(exchange.address, exchange.headers);
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
      limiter.consumeAddress(exchange.address, exchange.headers);
      const allow = allowedMethods(c.req.path);
      if (allow === null) throw notFound('path');
      exchange.headers.Allow = allow;
      if (c.req.method === 'OPTIONS') return respond(exchange, 204, null, {});
      throw new ServiceError('METHOD_NOT_ALLOWED', `This path allows ${allow}.`);
    }),
  );
  return app;
}

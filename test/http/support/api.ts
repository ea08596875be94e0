import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { createIdentify } from '../../../src/api-keys/authenticate.ts';
import { type CreatedApiKey, createApiKey } from '../../../src/api-keys/create.ts';
import { createLastUsedRecorder, type LastUsedRecorder } from '../../../src/api-keys/last-used.ts';
import { createApiKeyRoutes } from '../../../src/api-keys/routes.ts';
import type { ApiKeyItem } from '../../../src/api-keys/schemas.ts';
import { createWhoamiRoutes } from '../../../src/api-keys/whoami-routes.ts';
import { createAuditRoutes } from '../../../src/audit/routes.ts';
import type { AuditPage } from '../../../src/audit/schemas.ts';
import type { VerbContext } from '../../../src/context.ts';
import type { Database } from '../../../src/db/database.ts';
import { createApp, type HttpDependencies } from '../../../src/http/app.ts';
import { DEFAULT_HTTP_LIMITS } from '../../../src/http/limits.ts';
import type { RouteModule } from '../../../src/http/route.ts';
import { serveHttp } from '../../../src/http/serve.ts';
import type { RoleId, WorkspaceId } from '../../../src/ids.ts';
import type { Permission } from '../../../src/permissions.ts';
import { createReferencePages } from '../../../src/reference/pages.ts';
import { createRole } from '../../../src/roles/create.ts';
import { withAuthority } from '../../../src/roles/present-authority.ts';
import { createRoleRoutes } from '../../../src/roles/routes.ts';
import type { RoleItem } from '../../../src/roles/schemas.ts';
import { createWorkspace as create } from '../../../src/workspaces/create.ts';

/** What tests read of answers; which of it is there depends on the route. */
export interface AnswerBody {
  readonly type: string;
  readonly title: string;
  readonly status: number | string;
  readonly detail: string;
  readonly code: string;
  readonly requestId: string;
  readonly details: { readonly permissions?: string[]; readonly reason?: string } | undefined;
  readonly errors: { readonly pointer: string; readonly detail: string }[] | undefined;
  readonly errorsOmitted: number | undefined;
  readonly apiKey: CreatedApiKey['apiKey'];
  readonly key: string;
  readonly apiKeys: ApiKeyItem[];
  readonly role: RoleItem;
  readonly roles: RoleItem[];
  readonly permissions: string[];
  readonly entries: AuditPage['entries'];
  readonly nextCursor: string | null;
  readonly checks: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed body; an empty object when there is no JSON. */
  readonly body: AnswerBody;
  readonly text: string;
}

export interface CallOptions {
  /** Sent as the bearer key. */
  readonly key?: string;
  /** Sent as JSON, or as it is when it is a string. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface TestApi {
  readonly url: string;
  readonly lastUsed: LastUsedRecorder;
  /** Every line logged so far. */
  readonly log: string[];
  readonly call: (method: string, path: string, options?: CallOptions) => Promise<Answer>;
  readonly close: () => Promise<void>;
}

/** Sends one request over a real socket. */
export async function send(
  url: string,
  method: string,
  path: string,
  { key, body, headers = {} }: CallOptions = {},
): Promise<Answer> {
  const response = await fetch(url + path, {
    method,
    redirect: 'manual',
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = /json/.test(response.headers.get('content-type') ?? '');
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: (isJson && text !== '' ? JSON.parse(text) : {}) as AnswerBody,
  };
}

/** The routes of keys, roles and the audit log, those that need nothing but the database. */
export const edgeRoutes = (): RouteModule[] => [
  ...createApiKeyRoutes(),
  ...createRoleRoutes(),
  ...createAuditRoutes(),
  ...createWhoamiRoutes(DEFAULT_HTTP_LIMITS),
];

/** The routes behind a real server on loopback, its log kept in memory. */
export async function startApi(
  db: Database,
  { lastUsed: given, ...overrides }: Partial<HttpDependencies> & { lastUsed?: LastUsedRecorder } = {},
  routes: readonly RouteModule[] = edgeRoutes(),
): Promise<TestApi> {
  const log: string[] = [];
  const logger = pino({ level: 'trace' }, { write: (line: string) => void log.push(line) });
  const lastUsed = given ?? createLastUsedRecorder(db, logger, 60_000);
  const app = createApp(
    {
      databaseOf: (actor) => withAuthority(db, actor),
      logger,
      limits: { ...DEFAULT_HTTP_LIMITS, perKey: 0, authFailures: 0 },
      trustedProxies: [],
      identify: createIdentify(db, lastUsed),
      pages: createReferencePages,
      readiness: async () => ({ ready: true, checks: {} }),
      ...overrides,
    },
    routes,
  );
  const server = await serveHttp(app, { host: '127.0.0.1', port: 0, logger });
  return {
    url: server.url,
    lastUsed,
    log,
    call: (method, path, options) => send(server.url, method, path, options),
    close: async () => {
      await server.close();
      await lastUsed.close();
    },
  };
}

export interface TestWorkspace {
  readonly id: WorkspaceId;
  readonly roles: { readonly owner: RoleId; readonly admin: RoleId; readonly editor: RoleId };
  /** The raw key of an owner, and its id. */
  readonly ownerKey: string;
  readonly ownerKeyId: CreatedApiKey['apiKey']['id'];
  readonly operator: VerbContext;
  /** A key of a new role with exactly these permissions. */
  readonly keyWith: (...permissions: Permission[]) => Promise<string>;
  /** A key of the given role. */
  readonly keyOf: (roleId: RoleId, expiresAt?: Date) => Promise<CreatedApiKey>;
  readonly role: (...permissions: Permission[]) => Promise<RoleId>;
}

/** A workspace with its built-in roles, a wallet and an owner's key. */
export async function createWorkspace(db: Database, name = 'Acme'): Promise<TestWorkspace> {
  const { workspaceId: id, roles, apiKey: owner } = await create(db, { name, credits: 0 });
  const operator: VerbContext = { db, actor: { kind: 'operator', workspaceId: id }, requestId: 'test' };
  const keyOf = (roleId: RoleId, expiresAt?: Date): Promise<CreatedApiKey> =>
    createApiKey(operator, { label: 'test', roleId, expiresAt });
  const role = async (...permissions: Permission[]): Promise<RoleId> =>
    (await createRole(operator, { name: randomUUID(), permissions })).id;
  return {
    id,
    roles,
    ownerKey: owner.key,
    ownerKeyId: owner.id,
    operator,
    keyOf,
    role,
    keyWith: async (...permissions) => (await keyOf(await role(...permissions))).key,
  };
}

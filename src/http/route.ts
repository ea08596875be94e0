import type { HttpBindings } from '@hono/node-server';
import type { z } from 'zod';
import type { VerbContext } from '../context.ts';
import type { ErrorCode } from '../errors.ts';
import type { ArticleId, JobId, ProjectId, WorkspaceId } from '../ids.ts';
import type { Permission } from '../permissions.ts';
import { onBehalfOf, type WorkRoom } from '../threads/share.ts';
import { type BodySource, parseBody, parseQuery, readUpload, type Upload } from './input.ts';

/** What the path names; looked up for the caller before any other check. */
export type PathResource = 'workspace' | 'article' | 'project' | 'job' | 'caller';

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** The path parameter that each scope looks up; a `caller` path has none. */
export const SCOPE_PARAMETERS = {
  workspace: 'workspaceId',
  article: 'articleId',
  project: 'projectId',
  job: 'jobId',
  caller: null,
} as const satisfies Record<PathResource, string | null>;

interface ScopeIds {
  readonly workspaceId: WorkspaceId;
  readonly articleId: ArticleId;
  readonly projectId: ProjectId;
  readonly jobId: JobId;
}

type NamesIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NamesIn<Rest>
  : never;

/** The scope's own id is branded (it exists and is the caller's); any further id is raw text of the path. */
type Params<Path extends string, Scope extends PathResource> = {
  readonly [Name in NamesIn<Path>]: Name extends (typeof SCOPE_PARAMETERS)[Scope] & keyof ScopeIds
    ? ScopeIds[Name]
    : string;
};

type QueryOf<Query> = Query extends z.ZodObject ? z.output<Query> : Record<never, never>;
type BodyOf<Body, Optional> = Body extends z.ZodType
  ? z.output<Body> | (Optional extends true ? undefined : never)
  : undefined;

/** A success response. `headers` are added to those of every response. */
export interface RouteResponse {
  readonly status: 200 | 201 | 202 | 304;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface DocumentedResponse {
  readonly description: string;
  /** Absent for a response without a body. */
  readonly schema?: z.ZodType;
  readonly example?: unknown;
  /** Headers of this response beyond those of every response, with descriptions. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface DocumentedHeader {
  readonly description: string;
  readonly required?: boolean;
  readonly minLength?: number;
  readonly maxLength: number;
}

/** A route's contract, without the types that only its handler needs. */
export interface RouteDefinition {
  readonly method: Method;
  /** OpenAPI form: `/api/workspaces/{workspaceId}/api-keys/{keyId}`. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly [string];
  readonly scope: PathResource;
  /** All are needed: 403 before the body is read. Documented as `x-permissions`. */
  readonly permissions: readonly Permission[];
  readonly query?: z.ZodObject | undefined;
  readonly body?: z.ZodType | undefined;
  /** True when the body may be absent; the handler then gets `undefined`. */
  readonly bodyOptional?: boolean | undefined;
  /** True when the body's schema has asynchronous checks. */
  readonly bodyChecksAsync?: boolean | undefined;
  readonly bodyExample?: unknown;
  /** Maximum bytes of a JSON body, if not DEFAULT_BODY_BYTES. */
  readonly bodyBytes?: number;
  /** Bytes of its longest response, if not those of any list or of anything else. An article's own are added. */
  readonly responseBytes?: number;
  /** Instead of `body`: a file, which the handler gets as `bytes`. */
  readonly upload?: Upload;
  /** Request headers of the route, for the documentation alone: the handler reads and checks them. */
  readonly headers?: Readonly<Record<string, DocumentedHeader>>;
  readonly responses: Readonly<Record<number, DocumentedResponse>>;
  /** Error codes beyond those of every route of its kind. */
  readonly errors?: readonly ErrorCode[];
}

/** A request after authentication, the look-up of its scope and the permissions. */
export interface RouteRequest {
  readonly context: VerbContext;
  readonly params: Readonly<Record<string, string>>;
  /** Absolute. */
  readonly url: string;
  readonly body: BodySource;
  readonly headers: Headers;
  /** Closed once the response is sent, or the client is gone. */
  readonly connection: HttpBindings['outgoing'] | undefined;
  readonly room: WorkRoom;
}

export interface RouteModule {
  readonly definition: RouteDefinition;
  /** Validates query and body, then runs the handler. */
  readonly run: (request: RouteRequest) => Promise<RouteResponse>;
}

type TypedDefinition<Path, Scope, Query, Body, BodyOptional> = Omit<
  RouteDefinition,
  'path' | 'scope' | 'query' | 'body' | 'bodyOptional'
> & {
  readonly path: Path;
  readonly scope: Scope;
  readonly query?: Query;
  readonly body?: Body;
  readonly bodyOptional?: BodyOptional;
};

export interface HandlerInput<Path extends string, Scope extends PathResource, Query, Body, BodyOptional> {
  readonly context: VerbContext;
  readonly params: Params<Path, Scope>;
  readonly query: QueryOf<Query>;
  readonly body: BodyOf<Body, BodyOptional>;
  /** The whole upload; empty for a route without one. */
  readonly bytes: Uint8Array;
  /** The raw request headers. */
  readonly headers: Headers;
  /** For a handler that waits: once closed, the client is gone. */
  readonly connection: HttpBindings['outgoing'] | undefined;
}

/**
 * Declares one operation: its contract and its handler. The order of checks around the handler is fixed (design.md §5):
 * 401, 404 for the scope's id, 403, 400 for query and body; everything after is the handler's. Unknown fields are
 * dropped and null counts as absent for an optional field.
 */
export function defineRoute<
  const Path extends string,
  const Scope extends PathResource,
  Query extends z.ZodObject | undefined = undefined,
  Body extends z.ZodType | undefined = undefined,
  const BodyOptional extends boolean = false,
>(
  definition: TypedDefinition<Path, Scope, Query, Body, BodyOptional>,
  handler: (input: HandlerInput<Path, Scope, Query, Body, BodyOptional>) => Promise<RouteResponse>,
): RouteModule {
  const { query, body: schema, bodyOptional = false, bodyChecksAsync = false, upload } = definition;
  const expected =
    schema === undefined ? undefined : { schema, optional: bodyOptional, isAsync: bodyChecksAsync };
  return {
    definition,
    run: ({ context, params, url, body, headers, connection, room }) =>
      onBehalfOf(
        context.actor.workspaceId,
        async () =>
          handler({
            context,
            params: params as Params<Path, Scope>,
            query: parseQuery(query, url) as QueryOf<Query>,
            body: (await parseBody(expected, body)) as BodyOf<Body, BodyOptional>,
            bytes: await readUpload(upload, body),
            headers,
            connection,
          }),
        { room },
      ),
  };
}

import type { OpenAPIHono } from '@hono/zod-openapi';
import { z } from 'zod';
import { type ErrorCode, MAX_ISSUES } from '../errors.ts';
import { languageTag } from '../fields.ts';
import type { Env } from './exchange.ts';
import { MAX_DEPTH, MAX_VALUES } from './json.ts';
import { createSchemaWriter, type JsonSchema } from './json-schema.ts';
import { DEFAULT_BODY_BYTES } from './limits.ts';
import { problemExample } from './problem-examples.ts';
import { ERROR_CODES, PROBLEMS } from './problems.ts';
import type { RouteDefinition, RouteModule } from './route.ts';

type Registry = OpenAPIHono<Env>['openAPIRegistry'];
type Operation = Parameters<Registry['registerPath']>[0];
type Component = Parameters<Registry['registerComponent']>[2];

const SECURITY_SCHEME = 'apiKey';

const problemSchema = z
  .object({
    type: z.string().meta({ format: 'uri-reference', description: 'The page that explains the code.' }),
    title: z.string(),
    status: z.int().meta({ description: 'The HTTP status code, repeated.' }),
    detail: z.string().meta({ description: 'What went wrong, for people to read.' }),
    code: z.enum(ERROR_CODES).meta({ description: 'The code for programs to check.' }),
    requestId: z.string().meta({ description: 'The X-Request-Id of this response.' }),
    details: z
      .object({
        permissions: z
          .array(z.string())
          .optional()
          .meta({ description: 'The permissions the caller lacks, sorted.' }),
        reason: z.string().optional().meta({ description: 'Which kind of conflict it is.' }),
        proposals: z
          .array(z.object({ id: z.string(), reason: z.enum(['changed', 'full', 'quota']) }))
          .optional()
          .meta({ description: 'The proposals that cannot be accepted, at most the first 1,000.' }),
        oldest: z
          .string()
          .optional()
          .meta({ description: 'The cursor before the oldest event that is kept.' }),
        latest: z.string().optional().meta({ description: 'The cursor after the last event.' }),
      })
      .optional(),
    errors: z
      .array(
        z.object({
          pointer: z.string().meta({
            description: 'A JSON pointer into the body, `query/<name>` or `header/<name>`.',
          }),
          detail: z.string(),
        }),
      )
      .max(MAX_ISSUES)
      .optional()
      .meta({ description: `The invalid fields, at most the first ${MAX_ISSUES}.` }),
    errorsOmitted: z
      .int()
      .min(1)
      .optional()
      .meta({ description: 'How many more invalid fields there are; absent when `errors` has them all.' }),
  })
  .meta({ id: 'Problem', description: 'An error response (RFC 9457).' });

/** The error codes of an operation: those of its kind, and its own. */
function errorsOf(definition: RouteDefinition): ErrorCode[] {
  const codes = new Set<ErrorCode>(['INVALID_REQUEST', 'UNAUTHENTICATED', ...(definition.errors ?? [])]);
  if (definition.permissions.length > 0) codes.add('FORBIDDEN');
  if (definition.path.includes('{')) codes.add('RESOURCE_NOT_FOUND');
  if (definition.body !== undefined || definition.upload !== undefined) {
    codes.add('PAYLOAD_TOO_LARGE').add('UNSUPPORTED_MEDIA_TYPE');
  }
  codes.add('RATE_LIMITED').add('INTERNAL_ERROR').add('SERVICE_UNAVAILABLE');
  return ERROR_CODES.filter((code) => codes.has(code));
}

const RESPONSE_HEADERS = {
  'X-Request-Id': {
    description:
      'Identifies this request in the log and the audit log; a well-formed one sent by the client is kept.',
    schema: { type: 'string' as const },
  },
  'RateLimit-Policy': {
    description: 'The limits that apply to this request (draft-ietf-httpapi-ratelimit-headers).',
    schema: { type: 'string' as const },
  },
  RateLimit: {
    description: 'What remains of each limit (`r`) and the seconds until it is full again (`t`).',
    schema: { type: 'string' as const },
  },
};

function errorResponses(definition: RouteDefinition): Operation['responses'] {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of errorsOf(definition)) {
    const { status } = PROBLEMS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      String(status),
      {
        description: codes.map((code) => `${PROBLEMS[code].title} (${code}).`).join(' '),
        content: {
          'application/problem+json': {
            schema: { $ref: '#/components/schemas/Problem' },
            examples: Object.fromEntries(
              codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]),
            ),
          },
        },
      },
    ]),
  );
}

/** A path parameter is an id or a language. */
function parametersOf(definition: RouteDefinition, write: (schema: z.ZodType) => JsonSchema) {
  const path = [...definition.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path' as const,
    required: true,
    schema: name.endsWith('Id') ? { type: 'string' as const, format: 'uuid' } : write(languageTag),
  }));
  const query = Object.entries(definition.query?.shape ?? {}).map(([name, field]) => {
    const schema = field as z.ZodType;
    const { description, ...json } = write(schema);
    return {
      name,
      in: 'query' as const,
      required: !schema.safeParse(undefined).success,
      ...(typeof description === 'string' ? { description } : {}),
      schema: json,
    };
  });
  const headers = Object.entries(definition.headers ?? {}).map(
    ([name, { description, required, minLength = 0, maxLength }]) => ({
      name,
      in: 'header' as const,
      required: required ?? false,
      description,
      schema: { type: 'string' as const, minLength, maxLength },
    }),
  );
  return [...path, ...query, ...headers];
}

function requestBodyOf(definition: RouteDefinition, write: ReturnType<typeof createSchemaWriter>) {
  const { body, bodyExample, bodyBytes = DEFAULT_BODY_BYTES, upload, operationId } = definition;
  if (upload !== undefined) {
    const content = { schema: { type: 'string' as const, format: 'binary' } };
    return {
      requestBody: {
        description: `The file itself, at most ${upload.maxBytes} bytes.`,
        required: true,
        content: Object.fromEntries(upload.mediaTypes.map((type) => [type, content])),
      },
    };
  }
  if (body === undefined) return {};
  return {
    requestBody: {
      description: `At most ${bodyBytes} bytes, ${MAX_DEPTH} levels of nesting and ${MAX_VALUES} values.`,
      required: !(definition.bodyOptional ?? false),
      content: {
        'application/json': {
          schema: write(body, 'input', operationId),
          ...(bodyExample === undefined ? {} : { example: bodyExample }),
        },
      },
    },
  };
}

function operationOf(definition: RouteDefinition, write: ReturnType<typeof createSchemaWriter>): Operation {
  const { method, path, operationId, summary, permissions } = definition;
  const needs =
    permissions.length === 0 ? 'Any valid key may call it.' : `Needs ${permissions.join(' and ')}.`;
  const successes = Object.entries(definition.responses).map(
    ([status, { description, schema, example, headers = {} }]) => [
      status,
      {
        description,
        headers: {
          ...RESPONSE_HEADERS,
          ...Object.fromEntries(
            Object.entries(headers).map(([name, text]) => [
              name,
              { description: text, schema: { type: 'string' as const } },
            ]),
          ),
        },
        ...(schema === undefined
          ? {}
          : {
              content: {
                'application/json': {
                  schema: write(schema, 'output', operationId),
                  ...(example === undefined ? {} : { example }),
                },
              },
            }),
      },
    ],
  );
  return {
    method,
    path,
    operationId,
    summary,
    description: [definition.description, needs].filter((text) => text !== undefined).join('\n\n'),
    tags: [...definition.tags],
    security: [{ [SECURITY_SCHEME]: [] }],
    parameters: parametersOf(definition, (schema) => write(schema, 'input', operationId)),
    ...requestBodyOf(definition, write),
    responses: { ...Object.fromEntries(successes), ...errorResponses(definition) },
    'x-permissions': [...permissions],
  } as Operation;
}

/** A request that the service sends, for the document alone. */
export interface DocumentedWebhook {
  readonly name: string;
  /** Of the body. */
  readonly schema: z.ZodType;
  readonly example: object;
}

const WEBHOOK_HEADERS = {
  'webhook-id': "The event's id, the same in every delivery and redelivery: deduplicate on it.",
  'webhook-timestamp': 'Unix seconds.',
  'webhook-signature':
    'Standard Webhooks: `v1,<base64>`; two of them, parted by a space, while a secret is rotated.',
  'x-service-signature': '`t=<unix seconds>,v1=<hex>`.',
  'x-service-timestamp': 'The same t.',
  'x-service-event': 'The event name.',
  'x-service-delivery': "The delivery's id, the same on every attempt of it.",
};

const webhookOf = (
  { name, schema, example }: DocumentedWebhook,
  write: ReturnType<typeof createSchemaWriter>,
): Operation =>
  ({
    method: 'post',
    path: name,
    summary: name,
    tags: ['Webhooks'],
    parameters: Object.entries(WEBHOOK_HEADERS).map(([header, description]) => ({
      name: header,
      in: 'header',
      required: true,
      description,
      schema: { type: 'string' },
    })),
    requestBody: {
      required: true,
      content: { 'application/json': { schema: write(schema, 'output', name), example } },
    },
    responses: {
      '2XX': { description: 'Received. Anything else is a failure; 5xx and 429 are tried again.' },
    },
  }) as Operation;

/** The document (OpenAPI 3.1, relative to the server it was read from), from the schemas that validate. */
function describe(
  app: OpenAPIHono<Env>,
  routes: readonly RouteModule[],
  webhooks: readonly DocumentedWebhook[],
): object {
  const registry = app.openAPIRegistry;
  const write = createSchemaWriter((name, schema) => {
    registry.registerComponent('schemas', name, schema as Component);
  });
  registry.registerComponent('securitySchemes', SECURITY_SCHEME, {
    type: 'http',
    scheme: 'bearer',
    description: 'An API key of the workspace: `Authorization: Bearer wcsk_…`.',
  });
  write(problemSchema, 'output', 'Problem');
  for (const code of ERROR_CODES) {
    registry.registerComponent('examples', code, {
      summary: PROBLEMS[code].title,
      value: problemExample(code),
    });
  }
  for (const { definition } of routes) registry.registerPath(operationOf(definition, write));
  for (const webhook of webhooks) registry.registerWebhook(webhookOf(webhook, write));

  const tags = [...new Set(routes.map(({ definition }) => definition.tags[0]))].map((name) => ({ name }));
  return app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Workspace Content Service',
      version: '1',
      description:
        'API keys, signed webhooks, multilingual categories, and structured articles that are translated, or ' +
        'written from a topic, for credits. Every error response is an `application/problem+json` document ' +
        'with a stable `code`.',
      license: { name: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags,
  });
}

/** Describes every route and webhook once, when it is first asked for: a start need not wait for it. */
export function documentRoutes(...described: Parameters<typeof describe>): () => object {
  let document: object | undefined;
  return () => {
    document ??= describe(...described);
    return document;
  };
}

/**
 * Writes api.ts beside this file: the types of every call, from a running service's OpenAPI document.
 *
 *   node examples/client/generate.ts http://127.0.0.1:3000
 */
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

type Schema = { readonly [key: string]: unknown };

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: Schema;
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Media>> }>>;
}

interface Media {
  readonly schema?: Schema;
}

export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  /** The requests that the service sends, by the event's name. */
  readonly webhooks: Readonly<Record<string, { readonly post: Pick<Operation, 'requestBody'> }>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
const literal = (value: unknown): string =>
  typeof value === 'string' ? quoted(value) : JSON.stringify(value);
const key = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name));
const union = (types: readonly string[]): string => [...new Set(types)].join(' | ');

/** The TypeScript type of a JSON Schema. */
function typeOf(schema: Schema): string {
  const { $ref, type, items, properties, additionalProperties, required } = schema;
  if (typeof $ref === 'string') return $ref.slice($ref.lastIndexOf('/') + 1);
  if ('const' in schema) return literal(schema.const);
  if (Array.isArray(schema.enum)) return union(schema.enum.map(literal));
  const choices = schema.oneOf ?? schema.anyOf;
  if (Array.isArray(choices)) {
    const either = union(choices.map((choice) => typeOf(choice as Schema)));
    if (properties === undefined) return either;
    return `${typeOf({ ...schema, oneOf: undefined, anyOf: undefined })} & (${either})`;
  }
  if (Array.isArray(type)) return union(type.map((one: unknown) => typeOf({ ...schema, type: one })));
  if (type === 'array') {
    const item = typeOf((items ?? {}) as Schema);
    return item.includes(' | ') ? `(${item})[]` : `${item}[]`;
  }
  if (properties !== undefined) {
    const needed = new Set((required ?? []) as string[]);
    return fields(
      Object.entries(properties as Record<string, Schema>).map(([name, property]) => [
        name,
        typeOf(property),
        needed.has(name),
      ]),
    );
  }
  if (type === 'object') {
    return `Record<string, ${additionalProperties === undefined ? 'unknown' : typeOf(additionalProperties as Schema)}>`;
  }
  if (type === 'string') return schema.format === 'binary' ? 'Uint8Array' : 'string';
  if (type === 'integer' || type === 'number') return 'number';
  return type === 'boolean' || type === 'null' ? type : 'unknown';
}

type Field = readonly [name: string, type: string, required: boolean];

const fields = (list: readonly Field[]): string =>
  `{ ${list.map(([name, type, required]) => `${key(name)}${required ? '' : '?'}: ${type}`).join('; ')} }`;

function inputOf({ parameters = [], requestBody }: Operation): string {
  const places = [
    ['params', 'path'],
    ['query', 'query'],
    ['headers', 'header'],
  ] as const;
  const groups = places.flatMap(([name, place]): Field[] => {
    const own = parameters.filter((parameter) => parameter.in === place);
    const list = own.map((one): Field => [one.name, typeOf(one.schema), one.required === true]);
    return own.length === 0 ? [] : [[name, fields(list), own.some((one) => one.required === true)]];
  });
  if (requestBody !== undefined) {
    const types = Object.values(requestBody.content).map(({ schema }) => typeOf(schema ?? {}));
    groups.push(['body', union(types), requestBody.required === true]);
    const [mediaType] = Object.keys(requestBody.content);
    if (mediaType !== 'application/json') {
      groups.push(['contentType', union(Object.keys(requestBody.content).map(quoted)), true]);
    }
  }
  return groups.length === 0 ? 'Record<never, never>' : fields(groups);
}

function outputOf({ responses }: Operation): string {
  const successes = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  return union(
    successes.map(([status, { content }]) => {
      const body = typeOf(content?.['application/json']?.schema ?? {});
      return fields([
        ['status', status, true],
        ['headers', 'Headers', true],
        ['body', body, true],
      ]);
    }),
  );
}

/** The text of api.ts. */
export function generate({ paths, webhooks, components }: OpenApi): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  return [
    '// biome-ignore-all format: written by generate.ts',
    '/** The calls of Workspace Content Service, written by generate.ts from /openapi.json. */',
    '',
    ...Object.entries(components.schemas).map(
      ([name, schema]) => `export type ${name} = ${typeOf(schema)};\n`,
    ),
    '/** What each call takes and what its success responses are. */',
    'export interface Operations {',
    ...operations.map(
      ({ operation }) =>
        `  /** ${operation.summary} */\n  ${operation.operationId}: {\n    input: ${inputOf(operation)};\n    output: ${outputOf(operation)};\n  };`,
    ),
    '}',
    '',
    '/** The body of a webhook delivery, by the name of its event. */',
    'export interface WebhookEvents {',
    ...Object.entries(webhooks).map(
      ([name, { post }]) =>
        `  ${key(name)}: ${typeOf(post.requestBody?.content['application/json']?.schema ?? {})};`,
    ),
    '}',
    '',
    '/** Method and path of each call. */',
    'export const OPERATIONS = {',
    ...operations.map(
      ({ path, method, operation }) => `  ${operation.operationId}: [${quoted(method)}, ${quoted(path)}],`,
    ),
    '} as const satisfies Record<keyof Operations, readonly [method: string, path: string]>;',
    '',
  ].join('\n');
}

if (import.meta.main) {
  const service = process.argv[2] ?? 'http://127.0.0.1:3000';
  const response = await fetch(new URL('/openapi.json', service));
  if (!response.ok) throw new Error(`${service}/openapi.json responded with ${response.status}`);
  await writeFile(
    fileURLToPath(new URL('./api.ts', import.meta.url)),
    generate((await response.json()) as OpenApi),
  );
}

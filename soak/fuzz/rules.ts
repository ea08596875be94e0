/** The parts of an OpenAPI document that are read here. */
export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
}

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string; readonly schema: unknown }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: unknown }>> };
}

/** Parameters with a meaning that their schema can't hold: a page's end, a version, one of the project's languages. */
const MEANINGFUL_PARAMETERS = new Set(['cursor', 'If-Match', 'language']);

/** Formats with rules beyond their form: an id must exist in the workspace, a URL must lead to a public address. */
const MEANINGFUL_FORMATS = new Set(['uuid', 'uri']);

/** Names of language fields: a tag must be a real one, and often one of the project's. */
const LANGUAGE_FIELD = /language/i;

/** An expired key cannot be rotated, which its path does not show. */
const OTHERS = new Set(['rotateApiKey']);

/** True when the schema, or what it refers to, has a part whose meaning is judged. */
function hasMeaning(schema: unknown, document: ApiDocument, seen = new Set<unknown>()): boolean {
  if (typeof schema !== 'object' || schema === null || seen.has(schema)) return false;
  seen.add(schema);
  const { format, $ref, properties } = schema as Record<string, unknown>;
  if (typeof format === 'string' && MEANINGFUL_FORMATS.has(format)) return true;
  if (Object.keys(properties ?? {}).some((name) => LANGUAGE_FIELD.test(name))) return true;
  const target = typeof $ref === 'string' ? document.components.schemas[$ref.split('/').at(-1) ?? ''] : null;
  return [target, ...Object.values(schema)].some((part) => hasMeaning(part, document, seen));
}

function isJudged(operation: Operation, document: ApiDocument): boolean {
  if (OTHERS.has(operation.operationId)) return true;
  if (operation.parameters?.some(({ name }) => MEANINGFUL_PARAMETERS.has(name))) return true;
  return Object.entries(operation.requestBody?.content ?? {}).some(
    ([type, { schema }]) => type !== 'application/json' || hasMeaning(schema, document),
  );
}

/** Ids of the operations that may refuse, with good reason, a request that fits its schema. */
export const judgedOperations = (document: ApiDocument): string[] =>
  Object.values(document.paths)
    .flatMap((methods) => Object.values(methods))
    .filter((operation) => isJudged(operation, document))
    .map(({ operationId }) => operationId);

/** The parts of an OpenAPI document that the reference page shows. */
export type Schema = { readonly [key: string]: unknown };

export interface Media {
  readonly schema?: Schema;
  readonly example?: unknown;
  /** By error code; each refers to the component of that name. */
  readonly examples?: Readonly<Record<string, unknown>>;
}

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

export interface ResponseObject {
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly description?: string }>>;
  readonly content?: Readonly<Record<string, Media>>;
}

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly description?: string;
    readonly required?: boolean;
    readonly content: Readonly<Record<string, Media>>;
  };
  readonly responses: Readonly<Record<string, ResponseObject>>;
  readonly 'x-permissions'?: readonly string[];
}

/** An operation with its method and path. */
export interface Call {
  /** Upper case. */
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

export interface OpenApiDocument {
  readonly info: { readonly title: string; readonly description: string };
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly examples: Readonly<Record<string, { readonly value: unknown }>>;
  };
}

/** The calls of each area, in the order of the document's tags. */
export function callsByArea(document: OpenApiDocument): { name: string; calls: Call[] }[] {
  const calls = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  return document.tags.map(({ name }) => ({
    name,
    calls: calls.filter(({ operation }) => operation.tags[0] === name),
  }));
}

/** The error codes of a call, with their statuses, in ascending order of status. */
export const errorsOf = ({ responses }: Operation): { status: string; code: string }[] =>
  Object.entries(responses).flatMap(([status, { content }]) =>
    Object.keys(content?.['application/problem+json']?.examples ?? {}).map((code) => ({ status, code })),
  );

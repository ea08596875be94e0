import { escapeHtml, renderPage } from './html.ts';

/** The parts of an OpenAPI document that the page shows. */
interface Media {
  readonly schema?: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { $ref?: string; value?: unknown }>>;
}
type Schema = { readonly [key: string]: unknown };
interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly {
    name: string;
    in: string;
    required?: boolean;
    description?: string;
    schema: Schema;
  }[];
  readonly requestBody?: {
    readonly description?: string;
    readonly required?: boolean;
    readonly content: Readonly<Record<string, Media>>;
  };
  readonly responses: Readonly<
    Record<string, { description: string; content?: Readonly<Record<string, Media>> }>
  >;
}
interface OpenApiDocument {
  readonly info: { readonly title: string; readonly description: string };
  readonly tags: readonly { name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly examples: Readonly<Record<string, { value: unknown }>>;
  };
}

const code = (text: string): string => `<code>${escapeHtml(text)}</code>`;
const block = (value: unknown): string =>
  `<pre><code>${escapeHtml(JSON.stringify(value, null, 2))}</code></pre>`;
const paragraphs = (text: string): string =>
  text
    .split('\n\n')
    .map((part) => `<p>${escapeHtml(part)}</p>`)
    .join('');

/** A schema's type in a few words. */
function typeOf(schema: Schema): string {
  const { $ref, type, items, oneOf, anyOf, const: constant, enum: values } = schema;
  if (typeof $ref === 'string') return $ref.slice($ref.lastIndexOf('/') + 1);
  if (constant !== undefined) return JSON.stringify(constant);
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(' | ');
  const choices = oneOf ?? anyOf;
  if (Array.isArray(choices)) return choices.map((choice) => typeOf(choice as Schema)).join(' | ');
  if (type === 'array') return `${typeOf((items ?? {}) as Schema)}[]`;
  const names = Array.isArray(type) ? type.join(' | ') : typeof type === 'string' ? type : 'any';
  return typeof schema.format === 'string' ? `${names} (${schema.format})` : names;
}

function bounds(schema: Schema): string {
  return ['minLength', 'maxLength', 'minItems', 'maxItems', 'minimum', 'maximum', 'default']
    .filter(
      (name) => schema[name] !== undefined && Math.abs(Number(schema[name])) !== Number.MAX_SAFE_INTEGER,
    )
    .map((name) => `${name} ${JSON.stringify(schema[name])}`)
    .join(', ');
}

/** Rows of an object's properties, those of nested objects under dotted names. */
function rows(schema: Schema, prefix = ''): string {
  const required = new Set((schema.required ?? []) as string[]);
  return Object.entries((schema.properties ?? {}) as Record<string, Schema>)
    .map(([name, property]) => {
      const notes = [property.description, bounds(property)].filter(Boolean).join(' ');
      const row =
        `<tr><td>${code(prefix + name)}${required.has(name) ? '' : ' <span class="muted">optional</span>'}</td>` +
        `<td>${escapeHtml(typeOf(property))}</td><td>${escapeHtml(notes)}</td></tr>`;
      const nested = property.type === 'array' ? ((property.items ?? {}) as Schema) : property;
      const path = `${prefix}${name}${property.type === 'array' ? '[]' : ''}.`;
      return row + (nested.properties === undefined ? '' : rows(nested, path));
    })
    .join('');
}

const fields = (schema: Schema): string => {
  const body = rows(schema);
  return body === '' ? `<p>${code(typeOf(schema))}</p>` : `<table>${body}</table>`;
};

function renderParameters(operation: Operation): string {
  const lines = (operation.parameters ?? []).map(
    ({ name, in: place, required, description, schema }) =>
      `<tr><td>${code(name)}${required === true ? '' : ' <span class="muted">optional</span>'}</td>` +
      `<td>${escapeHtml(place)}, ${escapeHtml(typeOf(schema))}</td><td>${escapeHtml(description ?? '')}</td></tr>`,
  );
  return lines.length === 0 ? '' : `<h4>Parameters</h4><table>${lines.join('')}</table>`;
}

function renderBody({ requestBody }: Operation): string {
  if (requestBody === undefined) return '';
  const media = requestBody.content['application/json'];
  if (media === undefined) {
    const types = Object.keys(requestBody.content).map(code).join(', ');
    return `<h4>Body</h4><p>${escapeHtml(requestBody.description ?? '')} ${types}</p>`;
  }
  return (
    `<h4>Body${requestBody.required === true ? '' : ' (optional)'}</h4>${fields(media.schema ?? {})}` +
    (media.example === undefined ? '' : block(media.example))
  );
}

function renderAnswers(operation: Operation, document: OpenApiDocument): string {
  return Object.entries(operation.responses)
    .map(([status, { description, content }]) => {
      const [media] = Object.values(content ?? {});
      const success = status.startsWith('2');
      const examples = Object.entries(media?.examples ?? {}).map(([name]) =>
        block(document.components.examples[name]?.value),
      );
      const body = success
        ? fields(media?.schema ?? {}) + (media?.example === undefined ? '' : block(media.example))
        : examples.join('');
      return `<details${success ? ' open' : ''}><summary>${code(status)} ${escapeHtml(description)}</summary>${body}</details>`;
    })
    .join('');
}

function renderOperation(method: string, path: string, operation: Operation, document: OpenApiDocument) {
  return (
    `<section id="${escapeHtml(operation.operationId)}"><h3>${escapeHtml(operation.summary)}</h3>` +
    `<p><span class="method">${method}</span>${code(path)}</p>${paragraphs(operation.description ?? '')}` +
    `${renderParameters(operation)}${renderBody(operation)}<h4>Answers</h4>${renderAnswers(operation, document)}</section>`
  );
}

/** The reference of the whole service as one page that needs no script, made from its OpenAPI document. */
export function renderReference(source: object): string {
  const document = source as OpenApiDocument;
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const byTag = document.tags.map(({ name }) => ({
    name,
    operations: operations.filter(({ operation }) => operation.tags[0] === name),
  }));
  const navigation = byTag.map(
    ({ name, operations: own }) =>
      `<li><strong>${escapeHtml(name)}</strong><ul>${own
        .map(
          ({ operation }) =>
            `<li><a href="#${operation.operationId}">${escapeHtml(operation.summary)}</a></li>`,
        )
        .join('')}</ul></li>`,
  );
  const tags = byTag.map(
    ({ name, operations: own }) =>
      `<h2>${escapeHtml(name)}</h2>${own
        .map(({ method, path, operation }) => renderOperation(method, path, operation, document))
        .join('')}`,
  );
  const shapes = Object.entries(document.components.schemas).map(
    ([name, schema]) =>
      `<section id="schema-${escapeHtml(name)}"><h3>${escapeHtml(name)}</h3>${fields(schema)}</section>`,
  );
  return renderPage(
    document.info.title,
    `<h1>${escapeHtml(document.info.title)}</h1>${paragraphs(document.info.description)}` +
      `<p>The same as data: <a href="/openapi.json">/openapi.json</a></p>` +
      `<nav><ul>${navigation.join('')}</ul></nav>${tags.join('')}<h2>Shapes</h2>${shapes.join('')}`,
  );
}

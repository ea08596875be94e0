import { curlCommand } from './curl.ts';
import { type Call, errorsOf, type Operation, type ResponseObject } from './document.ts';
import { escapeHtml } from './html.ts';
import { fieldItem, fieldList, typeOf } from './schema.ts';
import { block, code, jsonBlock, paragraphs, prose } from './text.ts';

/** An error code's page. */
export interface ErrorPage {
  readonly code: string;
  readonly status: number;
  readonly title: string;
  /** The path of the page. */
  readonly path: string;
  /** The page's text after its heading, as HTML. */
  readonly html: string;
  readonly example: unknown;
}

/** Headers of every response: described once, at the top of the page. */
const COMMON_HEADERS = new Set(['X-Request-Id', 'RateLimit-Policy', 'RateLimit']);

export const methodBadge = (method: string): string =>
  `<span class="method ${method.toLowerCase()}">${method}</span>`;

function parameterList({ parameters = [] }: Operation): string {
  if (parameters.length === 0) return '';
  const items = parameters.map(({ name, in: place, required, description, schema }) =>
    fieldItem({
      name,
      optional: required !== true,
      type: `${typeOf(schema)}, in the ${escapeHtml(place)}`,
      schema: { ...schema, ...(description === undefined ? {} : { description }) },
    }),
  );
  return `<h4>Parameters</h4><ul class="fields">${items.join('')}</ul>`;
}

function bodyFields({ requestBody }: Operation): string {
  if (requestBody === undefined) return '';
  const media = requestBody.content['application/json'];
  if (media !== undefined) {
    const optional = requestBody.required === true ? '' : ' <span class="muted">optional</span>';
    return `<h4>Body${optional}</h4>${fieldList(media.schema ?? {})}`;
  }
  const types = Object.keys(requestBody.content).map(code).join(', ');
  return `<h4>Body</h4><p>${prose(requestBody.description ?? '')} Its type is one of ${types}.</p>`;
}

/** The response to a new request comes before the one to its repetition. */
const successes = ({ responses }: Operation): [string, ResponseObject][] =>
  Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .sort(([a], [b]) => Number(b) - Number(a));

function responseFields(status: string, { description, headers = {}, content }: ResponseObject): string {
  const [media] = Object.values(content ?? {});
  const own = Object.entries(headers).filter(([name]) => !COMMON_HEADERS.has(name));
  const list = own.map(([name, header]) => `<li>${code(name)}: ${prose(header.description ?? '')}</li>`);
  return (
    `<h4>Response ${status}</h4><p>${prose(description)}</p>` +
    (list.length === 0 ? '' : `<ul>${list.join('')}</ul>`) +
    fieldList(media?.schema ?? {})
  );
}

function errorLinks(operation: Operation, pages: ReadonlyMap<string, ErrorPage>): string {
  const items = errorsOf(operation).map(({ status, code: name }) => {
    const { path = '', title = '' } = pages.get(name) ?? {};
    return (
      `<li><span class="status">${status}</span> <a href="${escapeHtml(path)}">${escapeHtml(name)}</a>` +
      `<a class="example" href="#error-${escapeHtml(name)}" aria-label="Example of ${escapeHtml(title)}">example</a></li>`
    );
  });
  return `<h4>Errors</h4><ul class="errors">${items.join('')}</ul>`;
}

function examples(call: Call): string {
  const { operation } = call;
  const responses = successes(operation).map(([status, { content }]) => {
    const [media] = Object.values(content ?? {});
    return `<h4>Response ${status}</h4>${jsonBlock(`Example of response ${status}`, media?.example ?? {})}`;
  });
  const request = block('Request as a curl command', escapeHtml(curlCommand(call)));
  return `<div class="examples"><h4>Request</h4>${request}${responses.join('')}</div>`;
}

/** The description, with its permissions marked as code. */
function describe({ description = '', 'x-permissions': permissions = [] }: Operation): string {
  const names = new Set(permissions);
  return paragraphs(
    description.replaceAll(/`[^`]*`|[\w]+\.\w+/g, (word) => (names.has(word) ? `\`${word}\`` : word)),
  );
}

/** One call: its request and responses on the left, examples beside them. */
export function operationSection(call: Call, pages: ReadonlyMap<string, ErrorPage>): string {
  const { method, path, operation } = call;
  const id = escapeHtml(operation.operationId);
  const responses = successes(operation).map(([status, response]) => responseFields(status, response));
  return (
    `<section class="call" id="${id}" aria-labelledby="${id}-title"><div class="about">` +
    `<h3 id="${id}-title"><a href="#${id}">${escapeHtml(operation.summary)}</a></h3>` +
    `<p class="path">${methodBadge(method)} ${code(path)}</p>${describe(operation)}` +
    parameterList(operation) +
    bodyFields(operation) +
    responses.join('') +
    errorLinks(operation, pages) +
    `</div>${examples(call)}</section>`
  );
}

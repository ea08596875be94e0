import { type Call, callsByArea, errorsOf, type OpenApiDocument } from './document.ts';
import { EVENTS_ID, eventsSection } from './events.ts';
import { escapeHtml, renderPage } from './html.ts';
import { type ErrorPage, methodBadge, operationSection } from './operation.ts';
import { fieldList } from './schema.ts';
import { REFERENCE_SCRIPT } from './script.ts';
import { REFERENCE_STYLE } from './style.ts';
import { block, jsonBlock, paragraphs, prose } from './text.ts';

const navigationItem = (id: string, words: string, html: string): string =>
  `<li data-words="${escapeHtml(words.toLowerCase())}"><a href="#${escapeHtml(id)}">${html}</a></li>`;

const navigationGroup = (title: string, items: readonly string[]): string =>
  `<div class="group"><h2>${escapeHtml(title)}</h2><ul>${items.join('')}</ul></div>`;

/** The words by which the search finds a call. */
const wordsOf = ({ method, path, operation }: Call): string =>
  [
    operation.summary,
    method,
    path,
    operation.operationId,
    ...operation.tags,
    ...(operation['x-permissions'] ?? []),
    ...errorsOf(operation).map((error) => error.code),
  ].join(' ');

function navigation(document: OpenApiDocument, errors: readonly ErrorPage[]): string {
  const areas = callsByArea(document).map(({ name, calls }) =>
    navigationGroup(
      name,
      calls.map((call) =>
        navigationItem(
          call.operation.operationId,
          wordsOf(call),
          `${methodBadge(call.method)}<span>${escapeHtml(call.operation.summary)}</span>`,
        ),
      ),
    ),
  );
  const start = [
    navigationItem('start', 'start authentication conventions', 'Make a first call'),
    navigationItem(EVENTS_ID, 'webhook events payloads signature', 'Webhook events'),
  ];
  const codes = errors.map(({ code: name, status, title }) =>
    navigationItem(`error-${name}`, `error ${name} ${status} ${title}`, `${status} ${escapeHtml(title)}`),
  );
  const shapes = Object.keys(document.components.schemas).map((name) =>
    navigationItem(`schema-${name}`, `shape ${name}`, escapeHtml(name)),
  );
  return [
    navigationGroup('Start', start),
    ...areas,
    navigationGroup('Errors', codes),
    navigationGroup('Shapes', shapes),
  ].join('');
}

/** What the page says before the calls, as prose: `…` marks code. */
const FIRST_CALL =
  'Every call needs an API key of the workspace. The examples on this page expect these shell variables, and one for each id of the path: `{workspaceId}` is `$WORKSPACE_ID`.';
const FIRST_RESPONSE =
  "The response has the workspace's id, the role and the permissions of the key, and the limits that apply to it.";
const EVERY_CALL = [
  'A key acts with the permissions of its role and only in its own workspace. Anything outside it responds with 404, as if it did not exist.',
  'Bodies are JSON. Unknown fields are ignored; `null` for an optional field means that it is absent.',
  'Date-times are accepted with any offset and returned in UTC. Language tags are BCP 47, such as `en` or `pt-BR`.',
  'Long lists are paginated: send the `nextCursor` of one page as `cursor` to get the next, until it is null.',
  'Translations, refreshes and generations are jobs: the response is 202 with the job, which `GET /api/jobs/{jobId}` follows to its end. Ask for the price first; the credits are held meanwhile, and a job that fails or is cancelled costs nothing.',
  'Send an `Idempotency-Key` with each request for a job: the same key again responds with the same job, so a request whose response was lost can be repeated.',
  'Articles, outlines and the state of a translation have an `ETag`: send it as `If-Match`, and a change that would overwrite another one is refused with 412.',
  'An error is an `application/problem+json` document: check its `code`, and quote its `requestId` in reports. Every response has it as `X-Request-Id`.',
  '`RateLimit` shows what remains of each limit; a 429 for a limit that was reached has `Retry-After`.',
];

function start({ info }: OpenApiDocument): string {
  const lines = `API=<span class="base">http://127.0.0.1:3000</span>
KEY=wcsk_…

curl "$API/api/whoami" -H "Authorization: Bearer $KEY"`;
  return [
    `<section class="area" id="start"><h1>${escapeHtml(info.title)}</h1>`,
    paragraphs(info.description),
    '<p>The same for machines: <a href="/openapi.json">/openapi.json</a> (OpenAPI 3.1).</p>',
    `<h2>Make a first call</h2>${paragraphs(FIRST_CALL)}`,
    block('A first call', lines),
    paragraphs(FIRST_RESPONSE),
    `<h3>What holds for every call</h3><ul>${EVERY_CALL.map((rule) => `<li>${prose(rule)}</li>`).join('')}</ul>`,
    '</section>',
  ].join('');
}

function errorSection({ code: name, status, title, path, html, example }: ErrorPage): string {
  const id = `error-${escapeHtml(name)}`;
  return (
    `<section class="error" id="${id}" aria-labelledby="${id}-title"><div>` +
    `<h3 id="${id}-title"><span class="status">${status}</span> <a href="${escapeHtml(path)}">${escapeHtml(title)}</a></h3>` +
    `${html}</div>` +
    `<div>${jsonBlock(`Example of ${name}`, example)}</div></section>`
  );
}

/**
 * The reference of the whole service as one page, built from its OpenAPI document. It loads nothing: its style and its
 * one script are inline.
 */
export function renderReference(source: object, errors: readonly ErrorPage[]): string {
  const document = source as OpenApiDocument;
  const pages = new Map(errors.map((page) => [page.code, page]));
  const areas = callsByArea(document).map(({ name, calls }) => {
    const id = `area-${name.toLowerCase().replaceAll(' ', '-')}`;
    return `<h2 id="${escapeHtml(id)}">${escapeHtml(name)}</h2>${calls.map((call) => operationSection(call, pages)).join('')}`;
  });
  const shapes = Object.entries(document.components.schemas).map(
    ([name, schema]) =>
      `<section class="area shape" id="schema-${escapeHtml(name)}"><h3>${escapeHtml(name)}</h3>${fieldList(schema)}</section>`,
  );
  const { title } = document.info;
  return renderPage({
    title: `${title}: API reference`,
    style: REFERENCE_STYLE,
    body:
      `<a class="skip" href="#start">Skip to the text</a><aside><div class="brand"><a href="#start">${escapeHtml(title)}</a>` +
      `<button id="scheme" type="button" hidden aria-label="Switch between light and dark">◐</button></div>` +
      `<input id="search" type="search" hidden placeholder="Search (press /)" aria-label="Search the calls" aria-controls="menu" autocomplete="off" spellcheck="false">` +
      `<p id="found" class="muted" role="status"></p>` +
      `<details id="menu" open><summary>Contents</summary><nav aria-label="Contents">${navigation(document, errors)}</nav></details></aside>` +
      `<main>${start(document)}${areas.join('')}${eventsSection()}` +
      `<h2 id="errors">Errors</h2>${errors.map(errorSection).join('')}<h2 id="shapes">Shapes</h2>${shapes.join('')}</main>`,
    script: REFERENCE_SCRIPT,
  });
}

/**
 * Every list of the API, as long as its bound allows and with the widest legal texts: 40 connections ask for it at once and
 * read nothing, while another tenant reads and saves an article of 271 KB. Then one reader reads it whole. Ends with status
 * 1 when anything is off, also when the API has a list that is not filled here. contract.md A55 and A56.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OpenApiDocument } from '../src/reference/document.ts';
import { startProcess } from '../test/support/processes.ts';
import { formsOf, isType } from './fuzz/sizes/schema.ts';
import { quietPort } from './support/durable-engines.ts';
import { startEphemeralEngines, temporaryFolder } from './support/engines.ts';
import { fillLists, type List } from './support/longest-lists.ts';
import { conclude, print, quantile, setting, startClock, table } from './support/report.ts';
import { createScriptService } from './support/service.ts';
import { ARTICLE_BYTES, createTenants, type Sample, timesOf } from './support/tenant.ts';
import { memory } from './support/usage.ts';

const SECONDS = setting('LISTS_SECONDS', 4);
const READERS = setting('LISTS_READERS', 40);
const ALONE_SECONDS = 5;
/** The heap of the image (384), two threads for documents (152 each), the room of requests (96), code and connections. */
const MOST_MIB = 900;
const KIB = 1_024;
/** Of one response of a list with pages, unless it has one item. */
const MOST_OF_PAGE = 512 * KIB;
const STATUS_MS = 2_000;

const engines = await startEphemeralEngines();
const folder = temporaryFolder();
const service = createScriptService(engines);
const problems: string[] = [];
const port = await quietPort();
const { call, article: articleOf, sample } = createTenants(port, problems);
const report = startClock();

/** The operations whose response has an array, with the names of their arrays. */
function listsOf(document: OpenApiDocument): Map<string, string[]> {
  const lists = new Map<string, string[]>();
  for (const { get } of Object.values(document.paths)) {
    const schema = get?.responses['200']?.content?.['application/json']?.schema;
    if (get === undefined || schema === undefined) continue;
    const { schemas } = document.components;
    const names = formsOf(schema, schemas).flatMap(({ properties = {} }) =>
      Object.entries(properties).flatMap(([name, property]) =>
        formsOf(property, schemas).some((form) => isType(form, 'array')) ? [name] : [],
      ),
    );
    if (names.length > 0) lists.set(get.operationId, names);
  }
  return lists;
}

/** Asks on a connection that reads nothing. */
function ask(key: string, path: string): Socket {
  const socket = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.2' });
  socket.pause();
  socket.on('error', () => undefined);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`);
  return socket;
}

/** Ends such a connection. @returns the status of its response, or that there was none */
async function leave(socket: Socket): Promise<string> {
  socket.resume();
  const [chunk] = await Promise.race([once(socket, 'data').catch(() => []), sleep(STATUS_MS, [])]);
  socket.destroy();
  return chunk === undefined ? 'none' : String(chunk).slice(9, 12);
}

/** The parameter that reads on behind a page; null behind the last one, undefined of a list without pages. */
function next(body: {
  nextCursor?: string | null;
  cursor?: string;
  more?: boolean;
}): string | null | undefined {
  if (body.more !== undefined) return body.more ? `&after=${encodeURIComponent(body.cursor ?? '')}` : null;
  return body.nextCursor && `&cursor=${encodeURIComponent(body.nextCursor)}`;
}

/** Reads a list to its end. @returns its bytes, and those of its longest response */
async function readWhole(key: string, name: string, { path, items }: List) {
  const found: Record<string, number> = {};
  let [bytes, longest] = [0, 0];
  for (let from: string | null | undefined = ''; typeof from === 'string'; ) {
    const { status, text } = await call(key, 'GET', `${path}?limit=100${from}`);
    if (status !== 200) {
      problems.push(`${name} was ${status}`);
      break;
    }
    const length = Buffer.byteLength(text);
    bytes += length;
    longest = Math.max(longest, length);
    const body = JSON.parse(text);
    for (const array of Object.keys(items)) found[array] = (found[array] ?? 0) + body[array].length;
    from = next(body);
    if (
      from !== undefined &&
      length > MOST_OF_PAGE &&
      Object.keys(items).some((array) => body[array].length > 1)
    ) {
      problems.push(`a page of ${name} has ${length} bytes`);
    }
  }
  if (JSON.stringify(found) !== JSON.stringify(items)) {
    problems.push(`${name} has ${JSON.stringify(found)}, not ${JSON.stringify(items)}`);
  }
  return { bytes, longest };
}

try {
  const [quiet, noisy] = [await service.workspace('Quiet'), await service.workspace('Noisy')];
  const server = await startProcess('server.ts', {
    ...service.env,
    PORT: String(port),
    DATA_DIR: folder.path,
  });
  const lists = await fillLists(service, noisy);
  report('the workspace is full');
  const document: OpenApiDocument = JSON.parse((await call('', 'GET', '/openapi.json')).text);
  const known = listsOf(document);
  for (const [name, arrays] of known) {
    const filled = Object.keys(lists[name]?.items ?? {});
    if (arrays.sort().join() !== filled.sort().join()) problems.push(`${name} is not filled: ${arrays}`);
  }
  const article = await articleOf(quiet, ARTICLE_BYTES);
  const alone = await sample(quiet.key, article, ALONE_SECONDS);
  const before = memory(server.pid);

  const all: Sample = { reads: [], saves: [] };
  const rows: (string | number)[][] = [
    ['list', 'bytes', 'longest', 'responses', 'read p99 ms', 'save p99 ms', 'MiB'],
  ];
  for (const [name, list] of Object.entries(lists)) {
    if (!known.has(name)) problems.push(`${name} is no list of the API`);
    const sockets = Array.from({ length: READERS }, () => ask(noisy.key, `${list.path}?limit=100`));
    const beside = await sample(quiet.key, article, SECONDS);
    const statuses = await Promise.all(sockets.map(leave));
    const { bytes, longest } = await readWhole(noisy.key, name, list);
    all.reads.push(...beside.reads);
    all.saves.push(...beside.saves);
    const counts = Map.groupBy(statuses, (status) => status);
    for (const [status] of counts) {
      if (!['200', '503', 'none'].includes(status)) problems.push(`${name} was ${status} unread`);
    }
    rows.push([
      name,
      bytes,
      longest,
      [...counts].map(([status, { length }]) => `${length}×${status}`).join(' '),
      quantile(beside.reads, 0.99).toFixed(0),
      quantile(beside.saves, 0.99).toFixed(0),
      memory(server.pid).now.toFixed(0),
    ]);
    report(name);
  }
  const after = memory(server.pid);
  print(table(rows));
  print(timesOf({ alone, 'beside them': all }));
  print(`MiB resident of the server: ${before.now.toFixed(0)} before, ${after.highest.toFixed(0)} at most`);
  if (after.now === 0) problems.push(`the server has ended: ${server.log().slice(-600)}`);
  if (after.highest > MOST_MIB) problems.push(`the server had ${after.highest.toFixed(0)} MiB`);
  server.kill('SIGTERM');
  await server.ended;
} finally {
  await service.stop();
  await engines.stop();
  folder.remove();
}
conclude([...new Set(problems)], 'No list costs another tenant anything.');

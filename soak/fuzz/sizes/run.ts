import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Database } from '../../../src/db/database.ts';
import { createWorkspace } from '../../../src/workspaces/create.ts';
import { type ServiceProcess, startProcess } from '../../../test/support/processes.ts';
import { seedWorkspace } from '../seed.ts';
import { type Call, createClient, type TimedResponse } from './client.ts';
import type { Components, Schema } from './schema.ts';
import { JUST_SMALL, sizedBodies } from './values.ts';

/** Bound for other tenants while one is hostile. */
const P99_MS = 250;
const MEMORY_MIB = 600;
const REFUSAL_BYTES = 64 * 1024;

/** Connections of the hostile tenant. */
const HOSTILE = 16;
/** Seconds that it goes on for. */
const HOSTILE_SECONDS = 60;
/** Its heaviest legal requests, sent over and over in the second phase; as many are of the heaviest small ones. */
const HEAVIEST = 40;

const print = (line: string): void => void process.stderr.write(`${line}\n`);

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Components };
}
interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: Schema }[];
  readonly requestBody?: {
    readonly description?: string;
    readonly content: Readonly<Record<string, { readonly schema: Schema; readonly example?: unknown }>>;
  };
}
interface Named {
  readonly name: string;
  readonly call: Call;
}

/** Every operation with every size of every field, one call at a time. */
function* sizedCalls(document: Document, ids: Readonly<Record<string, readonly string[]>>): Generator<Named> {
  for (const [template, methods] of Object.entries(document.paths)) {
    const path = template.replaceAll(/\{(\w+)\}/g, (_, name) => ids[`path.${name}`]?.at(-1) ?? 'none');
    for (const [lower, operation] of Object.entries(methods)) {
      const method = lower.toUpperCase();
      // Deletions would remove what other calls need, and have no body.
      if (method === 'DELETE') continue;
      const title = `${method} ${template}`;
      yield { name: `${title} long path`, call: { method, path: path.replace(/[^/]*$/, 'x'.repeat(8_000)) } };
      for (const { name, in: place } of operation.parameters ?? []) {
        const long = 'é[]"'.repeat(1_500);
        if (place === 'query') {
          yield {
            name: `${title} ?${name}`,
            call: { method, path: `${path}?${name}=${encodeURIComponent(long).slice(0, 12_000)}` },
          };
        } else if (place === 'header') {
          yield { name: `${title} ${name}`, call: { method, path, headers: { [name]: 'x'.repeat(8_000) } } };
        }
      }
      const { content = {}, description = '' } = operation.requestBody ?? {};
      const bytes = Number(/(\d+) bytes/.exec(description)?.[1] ?? 65_536);
      const json = content['application/json'];
      if (json === undefined) continue;
      for (const { name, bytes: body } of sizedBodies(json.schema, document.components.schemas, bytes)) {
        yield { name: `${title} ${name}`, call: { method, path, body } };
      }
    }
  }
}

/** The p-th part of the values from below; 0 of none. */
const quantile = (values: readonly number[], p: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * p))] ?? 0;

/** Resident memory of a process in MiB. */
const memoryOf = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;

/** Heap of the server's main thread, by its metrics. */
async function heapOf(server: ServiceProcess): Promise<string> {
  const url = /metrics at (http:[^"]+)"/.exec(server.log())?.[1] ?? '';
  const text = await (await fetch(url)).text();
  const mib = (name: string) =>
    Math.round(Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? 0) / 1024 / 1024);
  return `heap ${mib('nodejs_heap_size_total_bytes')}, external ${mib('nodejs_external_memory_bytes')}`;
}

/** Observes a server from outside until the work is done, and prints the figures. @returns broken promises */
async function beside(
  name: string,
  target: { url: string; key: string; path: string; server: ServiceProcess },
  work: () => Promise<void>,
): Promise<string[]> {
  const script = fileURLToPath(new URL('observer.ts', import.meta.url));
  const child = spawn(process.execPath, [script, target.url, target.key, target.path], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  const ended = new Promise((resolve) => child.on('close', resolve));
  let memory = 0;
  let made = '';
  const sampling = setInterval(async () => {
    const now = memoryOf(target.server.pid);
    if (now <= memory) return;
    memory = now;
    made = await heapOf(target.server).catch(() => made);
  }, 250);
  try {
    await work();
  } finally {
    clearInterval(sampling);
    child.stdin.end();
    await ended;
  }
  const seen = JSON.parse(output) as { milliseconds: number[]; failures: string[] };
  const p99 = quantile(seen.milliseconds, 0.99);
  const longest = Math.max(...seen.milliseconds);
  print(
    `${name}: the other tenant asked ${seen.milliseconds.length} times, p50 ${Math.round(quantile(seen.milliseconds, 0.5))} ms, ` +
      `p99 ${Math.round(p99)} ms, longest ${Math.round(longest)} ms, ${seen.failures.length} failures; server ${Math.round(memory)} MiB at most (${made})`,
  );
  return [
    ...(p99 > P99_MS ? [`${name}: p99 of the other tenant is ${Math.round(p99)} ms`] : []),
    ...(memory > MEMORY_MIB ? [`${name}: the server took ${Math.round(memory)} MiB`] : []),
    ...seen.failures.slice(0, 10).map((failure) => `${name}: the other tenant got ${failure}`),
  ];
}

/** The fault of a response; null without one. */
function faultOf({ status, size, retryAfter }: TimedResponse): string | null {
  if (status >= 400 && size > REFUSAL_BYTES) return `a refusal of ${size} bytes`;
  if (status >= 500 && !(status === 503 && retryAfter)) return `status ${status}`;
  return null;
}

const urlOf = (server: ServiceProcess): string => /listening on (http:[^"]+)"/.exec(server.log())?.[1] ?? '';

/**
 * Sizes: for every route and every field the largest, deepest, widest and most repetitive values, legal and not; then the
 * heaviest legal ones again, and the heaviest small ones, from 16 connections within the rate limits. Another tenant must not notice.
 *
 * @param env the environment of a server; its engines are up and its schema is there
 * @param seconds how long the first phase may take
 * @returns what was broken, a line each
 */
export async function fuzzSizes(
  env: Record<string, string>,
  db: Database,
  { neighbourUrl, seconds }: { neighbourUrl: string; seconds: number },
): Promise<string[]> {
  const other = await createWorkspace(db, { name: 'Beside', credits: 10 });
  const light = { key: other.apiKey.key, path: `/api/workspaces/${other.workspaceId}/categories` };
  const broken: string[] = [];
  const legal: (Named & { milliseconds: number })[] = [];

  const worker = await startProcess('worker.ts', env);
  const unlimited = { ...env, RATE_LIMIT_PER_KEY: '0', RATE_LIMIT_AUTH_FAILURES: '0' };
  const first = await startProcess('server.ts', unlimited);
  const url = urlOf(first);
  const seed = await seedWorkspace({ db, url, neighbourUrl });
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as Document;
  broken.push(
    ...(await beside('every size', { url, ...light, server: first }, async () => {
      const client = createClient(url, seed.key, 4);
      const until = Date.now() + seconds * 1000;
      const calls = sizedCalls(document, seed.values);
      let sent = 0;
      const lane = async (): Promise<void> => {
        for (const { name, call } of calls) {
          if (Date.now() > until) return;
          sent += 1;
          const response = await client.send(call);
          const fault = faultOf(response);
          if (fault !== null) broken.push(`${name}: ${fault}`);
          const { status, milliseconds } = response;
          if (status >= 200 && status < 300) legal.push({ name, call, milliseconds });
        }
      };
      await Promise.all([lane(), lane(), lane(), lane()]);
      client.close();
      const rest = Date.now() < until ? 'all' : 'not all';
      print(`every size: ${sent} requests, ${rest} of them; ${legal.length} were accepted`);
      if (rest !== 'all') broken.push(`every size: ${seconds} seconds were not enough`);
    })),
  );
  first.kill('SIGTERM');
  await first.ended;

  const sorted = legal.toSorted((a, b) => b.milliseconds - a.milliseconds);
  const heaviest = [false, true].map((small) =>
    sorted.filter(({ name }) => name.includes(JUST_SMALL) === small).slice(0, HEAVIEST),
  );
  for (const { name, milliseconds } of heaviest.flatMap((some) => some.slice(0, 5)))
    print(`  ${Math.round(milliseconds)} ms: ${name}`);
  const second = await startProcess('server.ts', env);
  const limited = urlOf(second);
  broken.push(
    ...(await beside('hostile tenant', { url: limited, ...light, server: second }, async () => {
      const client = createClient(limited, seed.key, HOSTILE);
      const until = Date.now() + HOSTILE_SECONDS * 1000;
      const counts = new Map<number, number>();
      const lane = async (from: number): Promise<void> => {
        // Half of the connections send small documents, which never wait for a turn.
        const mine = heaviest[from % 2] ?? [];
        for (let turn = from; Date.now() < until; turn += 1) {
          const named = mine[turn % mine.length];
          if (named === undefined) return;
          const response = await client.send(named.call);
          counts.set(response.status, (counts.get(response.status) ?? 0) + 1);
          const fault = faultOf(response);
          if (fault !== null) broken.push(`hostile tenant: ${named.name}: ${fault}`);
        }
      };
      await Promise.all(Array.from({ length: HOSTILE }, (_, index) => lane(index * 3)));
      client.close();
      print(`hostile tenant: responses by status ${JSON.stringify(Object.fromEntries(counts))}`);
    })),
  );
  second.kill('SIGTERM');
  worker.kill('SIGTERM');
  await Promise.all([second.ended, worker.ended]);
  return broken;
}

/**
 * Strangers and a tenant that ask for much and read nothing, announce bodies and send nothing, and 12,000 idle connections:
 * meanwhile another tenant reads and saves an article of 271 KB. Then an honest upload with long pauses, alone. Ends with
 * status 1 when anything is off.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { loadavg, setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { cpuTimeOf } from '../bench/lib/cpu.ts';
import { startProcess } from '../test/support/processes.ts';
import type { Crowd } from './support/crowd.ts';
import { quietPort } from './support/durable-engines.ts';
import { startEphemeralEngines, temporaryFolder } from './support/engines.ts';
import { conclude, print, quantile, seconds, setting } from './support/report.ts';
import { createScriptService, type ScriptWorkspace } from './support/service.ts';
import { ARTICLE_BYTES, agent, createTenants, timesOf } from './support/tenant.ts';
import { memory } from './support/usage.ts';

const SECONDS = setting('STRANGERS_SECONDS', 45);
const READERS = setting('STRANGERS_READERS', 500);
const UPLOADS = setting('STRANGERS_UPLOADS', 500);
const IDLE = setting('STRANGERS_IDLE', 12_000);
/** Of the honest upload, which takes ten seconds for each; 0 for none. */
const UPLOAD_MIB = setting('STRANGERS_UPLOAD_MIB', 16);
const ALONE_SECONDS = 10;
const KIB = 1_024;
const MIB = 1_024 * KIB;
const UPLOAD_KIB_PER_SECOND = 100;
const PAUSE_EVERY_MIB = 4;
const PAUSE_MS = 10_000;
/** Of the crowd, which would not share the server's processors. */
const LOW_PRIORITY = 10;
const LOOP_STEPS = 300_000_000;
const MOST_MS = 250;
const MOST_MIB = 512;

const engines = await startEphemeralEngines();
const folder = temporaryFolder();
const service = createScriptService(engines);
const problems: string[] = [];
const port = await quietPort();
const { call, article: articleOf, sample } = createTenants(port, problems);

const addCategories = (workspace: ScriptWorkspace, count: number) =>
  sql`
    WITH made AS (
      INSERT INTO categories (id, workspace_id, primary_language)
      SELECT gen_random_uuid(), ${workspace.id}, 'zh' FROM generate_series(1, ${count}::int) RETURNING id
    )
    INSERT INTO category_names (id, workspace_id, category_id, language, name, slug, name_key)
    SELECT gen_random_uuid(), ${workspace.id}, id, 'zh', rpad('', 72, '園') || left(id::text, 8), id::text, id::text
    FROM made`.execute(service.db);

/** How fast the machine is at this moment: a loop that always does the same. */
function printSpeed(): void {
  const began = performance.now();
  let sum = 0;
  for (let step = 0; step < LOOP_STEPS; step += 1) sum = (sum + step * 7) | 0;
  const took = (performance.now() - began).toFixed(0);
  print(`a bare loop takes ${took} ms, the machine's load is ${loadavg()[0]?.toFixed(1)}`);
}

async function honestUpload({ key }: ScriptWorkspace, articleId: string, mebibytes: number): Promise<void> {
  const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
  const began = performance.now();
  const status = await new Promise<number>((resolve, reject) => {
    const outgoing = request({
      port,
      host: '127.0.0.1',
      agent,
      method: 'POST',
      path: `/api/articles/${articleId}/assets`,
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'image/png',
        'content-length': mebibytes * MIB,
      },
    });
    outgoing.on('response', (response) => resolve(response.resume().statusCode ?? 0));
    outgoing.on('error', reject);
    const send = async () => {
      for (let sent = 0; sent < mebibytes * MIB; sent += UPLOAD_KIB_PER_SECOND * KIB) {
        const piece = Buffer.alloc(Math.min(UPLOAD_KIB_PER_SECOND * KIB, mebibytes * MIB - sent));
        if (sent === 0) png.copy(piece);
        outgoing.write(piece);
        const passes =
          Math.floor((sent + piece.length) / (PAUSE_EVERY_MIB * MIB)) >
          Math.floor(sent / (PAUSE_EVERY_MIB * MIB));
        await sleep(passes ? PAUSE_MS : 1_000);
      }
      outgoing.end();
    };
    void send().catch(reject);
  });
  print(
    `an upload of ${mebibytes} MiB at ${UPLOAD_KIB_PER_SECOND} KiB/s with pauses: ${status} after ${seconds(performance.now() - began, 0)} s`,
  );
  if (status !== 201) problems.push(`the honest upload was ${status}`);
}

function startCrowd(crowd: Crowd): Promise<ChildProcess> {
  const child = fork(fileURLToPath(new URL('support/crowd.ts', import.meta.url)), {
    env: { ...process.env, CROWD: JSON.stringify(crowd) },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  setPriority(child.pid ?? 0, LOW_PRIORITY);
  return new Promise((resolve, reject) => {
    child.stdout?.once('data', () => resolve(child));
    child.once('exit', () => reject(new Error('the crowd ended early')));
  });
}

try {
  const [quiet, noisy] = [await service.workspace('Quiet'), await service.workspace('Noisy')];
  const server = await startProcess('server.ts', {
    ...service.env,
    PORT: String(port),
    DATA_DIR: folder.path,
  });
  const article = await articleOf(quiet, ARTICLE_BYTES);
  const large = await articleOf(noisy, 3_000_000);
  await addCategories(noisy, 20_000);
  const size = (await call(quiet.key, 'GET', `/api/articles/${article}`)).text.length;
  const alone = await sample(quiet.key, article, ALONE_SECONDS);
  const before = memory(server.pid);

  const as = (method: string, path: string, key = '', more = '') =>
    `${method} ${path} HTTP/1.1\r\nHost: x\r\n${key === '' ? '' : `Authorization: Bearer ${key}\r\n`}${more}\r\n`;
  printSpeed();
  const began = performance.now();
  const crowd = await startCrowd({
    port,
    addresses: 50,
    reads: [
      as('GET', '/docs'),
      as('GET', '/openapi.json'),
      as('GET', `/api/articles/${large}`, noisy.key),
      as('GET', `/api/workspaces/${noisy.id}/categories`, noisy.key),
    ],
    readers: READERS,
    upload: as(
      'POST',
      `/api/articles/${large}/assets`,
      noisy.key,
      `Content-Type: image/png\r\nContent-Length: ${16 * MIB}\r\n`,
    ),
    uploads: UPLOADS,
    idle: IDLE,
  });
  print(`the crowd was there after ${seconds(performance.now() - began, 0)} s`);
  const used = { server: cpuTimeOf(server.pid), crowd: cpuTimeOf(crowd.pid ?? 0) };
  const beside = await sample(quiet.key, article, SECONDS);
  print(
    `seconds of a processor in ${SECONDS}: server ${seconds(cpuTimeOf(server.pid) - used.server, 1)}, crowd ${seconds(cpuTimeOf(crowd.pid ?? 0) - used.crowd, 1)}`,
  );
  const [counts] = await Promise.all([once(crowd, 'message'), crowd.send('stop')]);
  const after = memory(server.pid);
  printSpeed();
  print(`${JSON.stringify(counts[0])} connections; the article's response has ${size} bytes`);
  print(timesOf({ alone, 'beside them': beside }));
  print(`MiB resident of the server: ${before.now.toFixed(0)} before, ${after.highest.toFixed(0)} at most`);
  for (const [name, values] of Object.entries(beside)) {
    const p99 = quantile(values, 0.99);
    if (!(p99 <= MOST_MS)) problems.push(`the p99 of ${name} was ${p99.toFixed(0)} ms`);
  }
  if (after.highest > MOST_MIB) problems.push(`the server had ${after.highest.toFixed(0)} MiB`);
  if (UPLOAD_MIB > 0) await honestUpload(quiet, article, UPLOAD_MIB);
  server.kill('SIGTERM');
  await server.ended;
} finally {
  await service.stop();
  await engines.stop();
  folder.remove();
}
conclude([...new Set(problems)], 'Strangers cost a tenant nothing.');

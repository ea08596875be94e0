/**
 * What one tenant costs another: the times of GET /api/whoami by one key, alone and while another tenant sends a request on
 * 200 connections, again and again.
 *
 * Environment: BENCH_ROUNDS (3), BENCH_SECONDS (5) for each measurement, BENCH_BODIES (names of bodies, separated by
 * commas), BENCH_REQUESTS_A_MINUTE of a workspace (0: no limit).
 */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';
import { startEphemeralEngines, temporaryFolder } from '../../soak/support/engines.ts';
import { print, quantile, setting } from '../../soak/support/report.ts';
import { createArticle } from '../../src/articles/create.ts';
import { createDatabase } from '../../src/db/database.ts';
import { createProject } from '../../src/projects/create.ts';
import { newSecretKey } from '../../src/secret-keys.ts';
import { createWorkspace } from '../../src/workspaces/create.ts';
import { startChild } from './child.ts';
import { type Figure, report } from './suite.ts';

const ROUNDS = setting('BENCH_ROUNDS', 3);
const MEASURED_MS = setting('BENCH_SECONDS', 5) * 1_000;
const CONNECTIONS = 200;
const EVERY_MS = 10;
const SETTLE_MS = 1_500;

/** What the crowd sends. */
export interface CrowdRequest {
  readonly target: (of: { readonly projectId: string; readonly articleId: string }) => string;
  readonly contentType: string;
  readonly body: string | Uint8Array;
}

/**
 * Measures and reports a suite, and fails when the 99th percentile grows by more than is promised.
 */
export async function measureBesideCrowd(
  suite: string,
  promisedMs: number,
  requests: Readonly<Record<string, CrowdRequest>>,
): Promise<void> {
  const folder = temporaryFolder();
  const engines = await startEphemeralEngines();
  const db = createDatabase({ connectionString: engines.databaseUrl });
  const crowd = await createWorkspace(db, { name: 'Crowd', credits: 0 });
  const context = {
    db,
    actor: { kind: 'operator', workspaceId: crowd.workspaceId } as const,
    requestId: 'bench',
  };
  const projectId = await createProject(context, { name: 'Crowd', languages: ['en'], primaryLanguage: 'en' });
  const { article } = await createArticle(context, { projectId, title: 'Crowd' });
  const other = await createWorkspace(db, { name: 'Other', credits: 0 });

  const service = await startChild(new URL('../auth/service.ts', import.meta.url), {
    DATABASE_URL: engines.databaseUrl,
    TEMPORAL_ADDRESS: engines.temporalAddress,
    PORT: '0',
    SECRETS_KEYS: newSecretKey('bench'),
    DATA_DIR: folder.path,
    RATE_LIMIT_PER_KEY: '0',
    RATE_LIMIT_PER_WORKSPACE: String(setting('BENCH_REQUESTS_A_MINUTE', 0)),
  });
  // From an address of its own: connections are counted by address.
  const pool = new Pool(service.url, {
    connections: 50,
    pipelining: 1,
    localAddress: '127.0.0.2',
  });

  /** Times of whoami, in milliseconds, sent at a steady rate whether the earlier ones have returned or not. */
  async function whoami(): Promise<number[]> {
    const pending: Promise<number>[] = [];
    for (const began = performance.now(); performance.now() - began < MEASURED_MS; await sleep(EVERY_MS)) {
      pending.push(
        (async () => {
          const startedAt = performance.now();
          const headers = { authorization: `Bearer ${other.apiKey.key}` };
          const { statusCode, body } = await pool.request({ path: '/api/whoami', method: 'GET', headers });
          await body.dump();
          if (statusCode !== 200) throw new Error(`whoami got ${statusCode}`);
          return performance.now() - startedAt;
        })(),
      );
    }
    return Promise.all(pending);
  }

  /** The same beside a crowd that sends this body. */
  async function besideCrowd({ target, contentType, body }: CrowdRequest): Promise<number[]> {
    const file = join(folder.path, 'body');
    writeFileSync(file, body);
    const child = spawn(
      process.execPath,
      [fileURLToPath(new URL('../documents/crowd.ts', import.meta.url))],
      {
        env: {
          PATH: process.env.PATH,
          ORIGIN: service.url,
          KEY: crowd.apiKey.key,
          TARGET: target({ projectId, articleId: article.id }),
          CONTENT_TYPE: contentType,
          BODY: file,
          CONNECTIONS: String(CONNECTIONS),
        },
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      },
    );
    const next = () => new Promise<unknown>((resolve) => child.once('message', resolve));
    await next();
    await sleep(SETTLE_MS);
    try {
      const times = await whoami();
      const statuses = next();
      child.send('statuses');
      print(`  the crowd got ${JSON.stringify(await statuses)}`);
      return times;
    } finally {
      child.kill('SIGKILL');
      await new Promise((resolve) => child.once('exit', resolve));
      await sleep(SETTLE_MS);
    }
  }

  const figures: Figure[] = [];
  const missed: string[] = [];
  await whoami();
  for (const name of process.env.BENCH_BODIES?.split(',') ?? Object.keys(requests)) {
    const request = requests[name];
    if (request === undefined) throw new Error(`No body ${name}.`);
    const alone: number[] = [];
    const beside: number[] = [];
    const medians: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      alone.push(quantile(await whoami(), 0.99));
      const times = await besideCrowd(request);
      beside.push(quantile(times, 0.99));
      medians.push(quantile(times, 0.5));
      print(
        `${name}: p99 alone ${alone.at(-1)?.toFixed(1)} ms, beside ${beside.at(-1)?.toFixed(1)} ms, median ${medians.at(-1)?.toFixed(1)} ms`,
      );
    }
    figures.push(
      { name: `${name}: whoami alone, p99, ms`, values: alone },
      { name: `${name}: whoami beside, p99, ms`, values: beside },
      { name: `${name}: whoami beside, median, ms`, values: medians },
    );
    const grown = quantile(beside, 0.5) - quantile(alone, 0.5);
    if (grown > promisedMs) missed.push(`${name}: ${grown.toFixed(0)} ms`);
  }
  await pool.close();
  await service.stop();
  await db.destroy();
  await engines.stop();
  folder.remove();
  report(suite, [], figures);
  if (missed.length > 0) {
    print(`\nMissed: p99 grown by more than ${promisedMs} ms beside ${missed.join(', ')}`);
    process.exitCode = 1;
  }
}

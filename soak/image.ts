/**
 * Carries the Dockerfile out in an empty folder and runs what comes of it as the image's user: migrate, server and worker,
 * with nothing of the checkout but what the image has. The health checks are the image's and the compose file's own; a key is
 * made and used; both processes end with status 0 when they get the image's stop signal. Ends with status 1 when anything is
 * off. About a minute, and a connection to the npm registry.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts, LOOPBACK } from '../src/ports.ts';
import { readCompose } from '../test/deployment/support/compose-file.ts';
import { REPOSITORY } from './production/deployment.ts';
import { completed, type Program, stopProgram, watch } from './production/programs.ts';
import { serviceOf } from './production/temporal-cluster.ts';
import { startEphemeralEngines, temporaryFolder } from './support/engines.ts';
import { buildImage, type Image } from './support/image.ts';
import { print, seconds } from './support/report.ts';

const HEALTHY_MS = 60_000;

const startedAt = Date.now();
const note = (line: string) => print(`${seconds(Date.now() - startedAt, 1).padStart(7)} s  ${line}`);
const problems: string[] = [];
const expect = (holds: boolean, promise: string) => {
  note(`${holds ? 'yes' : 'NO '}  ${promise}`);
  if (!holds) problems.push(promise);
};

/** Repeats a health check, run in the image as Docker would, until it succeeds. */
async function healthy(image: Image, test: readonly string[], env: Record<string, string>, log: string) {
  const deadline = Date.now() + HEALTHY_MS;
  while (Date.now() < deadline) {
    if ((await watch(image.start(test, env), log).ended) === 0) return true;
    await sleep(500);
  }
  return false;
}

const uidOf = (pid: number): number =>
  Number(/^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);

const folder = temporaryFolder();
chmodSync(folder.path, 0o755);
const engines = await startEphemeralEngines();
const running: Program[] = [];
try {
  mkdirSync(join(folder.path, 'image'));
  const image = buildImage(REPOSITORY, join(folder.path, 'image'), note);
  const size = execFileSync('du', ['-sm', image.workdir], { encoding: 'utf8' }).split('\t')[0];
  note(`what the image adds to Node: ${size} MB`);
  const manifest = JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8')) as {
    devDependencies: Record<string, string>;
  };
  const found = Object.keys(manifest.devDependencies).filter(
    (name) =>
      // Types are what some production packages themselves depend on.
      !name.startsWith('@types/') &&
      statSync(join(image.workdir, 'node_modules', name), { throwIfNoEntry: false }) !== undefined,
  );
  expect(
    found.length === 0,
    `no development package is in it${found.map((name) => `, but ${name}`).join('')}`,
  );
  expect(
    (statSync(image.workdir).mode & 0o022) === 0,
    'its files are closed to changes by others than their owner',
  );

  const compose = readCompose(join(REPOSITORY, 'docker-compose.yml'), {
    POSTGRES_PASSWORD: 'a',
    CONTENT_DB_PASSWORD: 'b',
    TEMPORAL_DB_PASSWORD: 'c',
  });
  const [port, serverMetrics, workerMetrics] = await freePorts(3);
  const env = (metrics: number | undefined) => ({
    DATABASE_URL: engines.databaseUrl,
    TEMPORAL_ADDRESS: engines.temporalAddress,
    HOST: LOOPBACK,
    PORT: String(port),
    METRICS_PORT: String(metrics),
  });
  const run = (name: string, command: readonly string[], variables: Record<string, string>) => {
    const program = watch(image.start(command, variables), join(folder.path, `${name}.log`));
    running.push(program);
    return program;
  };
  const serverEnv = env(serverMetrics);
  const workerEnv = env(workerMetrics);
  const log = join(folder.path, 'health.log');
  await completed('migrate', run('migrate', serviceOf(compose, 'migrate').command ?? [], serverEnv));
  const server = run('server', image.command, serverEnv);
  const worker = run('worker', serviceOf(compose, 'worker').command ?? [], workerEnv);
  const check = serviceOf(compose, 'worker').healthcheck;
  expect(
    await healthy(image, image.healthcheck, serverEnv, log),
    "the server is healthy by the image's check",
  );
  expect(
    check !== undefined && 'test' in check && (await healthy(image, check.test.slice(1), workerEnv, log)),
    "the worker is healthy by the compose file's check",
  );
  const wanted = process.getuid?.() === 0 ? image.user.uid : process.getuid?.();
  expect(
    [server, worker].every(({ pid }) => uidOf(pid) === wanted),
    `both run as uid ${wanted}`,
  );

  const admin = run(
    'admin',
    ['node', 'src/cli/admin.ts', '--json', 'workspace', 'create', '--name', 'W'],
    serverEnv,
  );
  await completed('admin', admin);
  const line = admin.log().trim().split('\n').at(-1) ?? '';
  const { apiKey } = JSON.parse(line) as { apiKey: { key: string } };
  const answers = await Promise.all(
    ['/api/whoami', '/docs', '/docs/errors/conflict', '/readyz'].map((path) =>
      fetch(`http://${LOOPBACK}:${port}${path}`, { headers: { authorization: `Bearer ${apiKey.key}` } }),
    ),
  );
  expect(
    answers.every(({ status }) => status === 200),
    `a key made there is let in, and the pages are there (${answers.map(({ status }) => status).join(', ')})`,
  );
  expect(statSync(join(image.root, 'data')).uid === wanted, 'its data folder is theirs');
  const stops = await Promise.all([stopProgram(server), stopProgram(worker)]);
  expect(
    stops.every((status) => status === 0),
    `${image.stopSignal} ends both with status 0 (${stops.join(', ')})`,
  );
} finally {
  for (const program of running) program.kill('SIGKILL');
  await engines.stop();
  folder.remove();
}
process.exitCode = problems.length === 0 ? 0 : 1;

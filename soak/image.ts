/**
 * Carries the Dockerfile out in an empty folder and runs the result as the image's user: migrate, server and worker,
 * with nothing of the checkout but what the image has: no bundler, no compiler, and an SBOM of what is there. The health checks are the image's and the compose file's own; a key is
 * made and used; both processes end with status 0 when they get the image's stop signal. Ends with status 1 when anything is
 * off. About a minute, and a connection to the npm registry.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePorts, LOOPBACK } from '../src/ports.ts';
import { readCompose, serviceOf } from '../test/deployment/support/compose-file.ts';
import { SECRETS_KEYS } from '../test/support/secret-keys.ts';
import { startEphemeralEngines, temporaryFolder } from './support/engines.ts';
import { buildImage } from './support/image.ts';
import { conclude, startClock } from './support/report.ts';

type Env = Record<string, string>;

/** Name and version of every package in a folder's node_modules, nested ones included. */
function installedIn(folder: string): Set<string> {
  const files = globSync('node_modules/{**/node_modules/,}{*,@*/*}/package.json', { cwd: folder });
  return new Set(
    files.flatMap((file) => {
      const { name, version } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Record<
        string,
        unknown
      >;
      return typeof name === 'string' && typeof version === 'string' ? [`${name}@${version}`] : [];
    }),
  );
}

/** The same of an SBOM's components. */
function listedIn(sbom: string): Set<string> {
  const { components } = JSON.parse(sbom) as { components: { 'bom-ref': string }[] };
  return new Set(components.map((component) => component['bom-ref'].split('|').at(-1) ?? ''));
}

const REPOSITORY = fileURLToPath(new URL('..', import.meta.url));
const PASSWORDS = {
  POSTGRES_PASSWORD: 'a',
  CONTENT_DB_PASSWORD: 'b',
  TEMPORAL_DB_PASSWORD: 'c',
  SECRETS_KEYS,
};
const HEALTHY_MS = 60_000;

const note = startClock();
const problems: string[] = [];
const expect = (holds: boolean, promise: string) => {
  note(`${holds ? 'yes' : 'NO '}  ${promise}`);
  if (!holds) problems.push(promise);
};
const folder = temporaryFolder();
// The image's user has to get in.
chmodSync(folder.path, 0o755);
const engines = await startEphemeralEngines();
const running: ChildProcess[] = [];
try {
  const image = buildImage(REPOSITORY, folder.path, note);
  const run = (command: readonly string[] = [], env: Env) => {
    const { file, args, options } = image.spawned(command, env);
    return promisify(execFile)(file, args, options);
  };
  const start = (command: readonly string[] = [], env: Env): ChildProcess => {
    const { file, args, options } = image.spawned(command, env);
    const child = spawn(file, args, { ...options, stdio: ['ignore', 'ignore', 'inherit'] });
    running.push(child);
    return child;
  };
  /** Repeats a health check until it succeeds. */
  const healthy = async (test: readonly string[], env: Env) => {
    for (const deadline = Date.now() + HEALTHY_MS; Date.now() < deadline; await sleep(500)) {
      const isHealthy = await run(test, env).then(
        () => true,
        () => false,
      );
      if (isHealthy) return true;
    }
    return false;
  };

  const { packages } = JSON.parse(readFileSync(join(REPOSITORY, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean }>;
  };
  const found = Object.keys(packages).filter((path) => packages[path]?.dev && existsSync(image.at(path)));
  expect(found.length === 0, `no development package is in it ${found}`);
  const bundling = [
    '@swc/core',
    '@swc/core-linux-x64-gnu',
    '@swc/core-linux-arm64-gnu',
    'esbuild',
    'terser',
    'swc-loader',
    'webpack-sources',
    'typescript',
  ];
  const left = bundling.filter((name) => existsSync(image.at(`node_modules/${name}`)));
  expect(left.length === 0, `no bundler and no compiler is in it ${left}`);
  const inside = installedIn(image.at('.'));
  const listed = listedIn(readFileSync(image.at('build/sbom.cdx.json'), 'utf8'));
  // The stand-in for webpack is ours.
  const differing = [...inside.symmetricDifference(listed)].filter((name) => name !== 'webpack@0.0.0');
  expect(
    inside.size > 100 && differing.length === 0,
    `its SBOM lists the ${listed.size} packages in it ${differing}`,
  );
  expect((statSync(image.at('.')).mode & 0o022) === 0, 'only the owner may change its files');

  const compose = readCompose(join(REPOSITORY, 'docker-compose.yml'), PASSWORDS);
  const [port, serverMetrics, workerMetrics] = await freePorts(3);
  const envWith = (metricsPort: number | undefined): Env => ({
    DATABASE_URL: engines.databaseUrl,
    TEMPORAL_ADDRESS: engines.temporalAddress,
    HOST: LOOPBACK,
    PORT: String(port),
    METRICS_PORT: String(metricsPort),
    LOG_LEVEL: 'warn',
    SECRETS_KEYS,
  });
  const [serverEnv, workerEnv] = [envWith(serverMetrics), envWith(workerMetrics)];
  await run(serviceOf(compose, 'migrate').command, serverEnv);
  const server = start(image.command, serverEnv);
  const worker = start(serviceOf(compose, 'worker').command, workerEnv);
  const check = serviceOf(compose, 'worker').healthcheck;
  expect(await healthy(image.healthcheck, serverEnv), "the server is healthy by the image's check");
  expect(
    check !== undefined && 'test' in check && (await healthy(check.test.slice(1), workerEnv)),
    "the worker is healthy by the compose file's check",
  );
  const wanted =
    process.getuid?.() === 0 ? Number(image.settings.get('USER')?.split(':')[0]) : process.getuid?.();
  const uidOf = ({ pid }: ChildProcess) =>
    Number(/^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  expect(
    [server, worker].every((child) => uidOf(child) === wanted),
    `both run as uid ${wanted}`,
  );

  const admin = ['node', 'src/cli/admin.ts', '--json', 'workspace', 'create', '--name', 'W'];
  const { apiKey } = JSON.parse((await run(admin, serverEnv)).stdout) as { apiKey: { key: string } };
  const responses = await Promise.all(
    ['/api/whoami', '/docs', '/docs/errors/conflict', '/readyz'].map((path) =>
      fetch(`http://${LOOPBACK}:${port}${path}`, { headers: { authorization: `Bearer ${apiKey.key}` } }),
    ),
  );
  const statuses = responses.map(({ status }) => status);
  expect(
    statuses.every((status) => status === 200),
    `a key made there is accepted, and the pages are there (${statuses.join(', ')})`,
  );
  expect(statSync(image.at('/data')).uid === wanted, 'its data folder belongs to that user');
  const signal = image.settings.get('STOPSIGNAL') as NodeJS.Signals;
  const ends = await Promise.all(
    [server, worker].map(async (child) => {
      const ended = once(child, 'exit');
      child.kill(signal);
      return (await ended)[0];
    }),
  );
  expect(
    ends.every((status) => status === 0),
    `${signal} ends both with status 0 (${ends.join(', ')})`,
  );
} finally {
  for (const child of running) child.kill('SIGKILL');
  await engines.stop();
  folder.remove();
}
conclude(problems, 'The image is in order.');

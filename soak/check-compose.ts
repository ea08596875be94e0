/**
 * Has docker-compose.yml read by the parser that Docker Compose itself is built on (compose-go, fetched and built by Go
 * the first time): an unset password must stop it, and it must understand of ports, builds and replicas what
 * test/deployment/files.test.ts checks. Ends with status 1 when anything is off.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { isPinned } from '../test/deployment/support/compose-file.ts';
import { conclude, print } from './support/report.ts';

const PASSWORDS = ['POSTGRES_PASSWORD', 'CONTENT_DB_PASSWORD', 'TEMPORAL_DB_PASSWORD', 'SECRETS_KEYS'];
const FILE = fileURLToPath(new URL('../docker-compose.yml', import.meta.url));
const FOLDER = fileURLToPath(new URL('./compose-check', import.meta.url));
/** Published ports, built services, replicas and profiles. */
const EXPECTED = [
  'grafana 127.0.0.1:3000',
  'grafana in observability',
  'migrate built',
  'otel-collector in observability',
  'prometheus in observability',
  's3 in s3',
  'searxng in search',
  'server 127.0.0.1:3000',
  'temporal-ui 127.0.0.1:8080',
  'worker 2 times',
];

const serviceSchema = z.object({
  image: z.string(),
  profiles: z.array(z.string()).default([]),
  build: z.object({ context: z.string() }).optional(),
  ports: z.array(z.object({ host_ip: z.string().optional(), target: z.int() })).default([]),
  deploy: z.object({ replicas: z.int().optional() }).optional(),
});
const projectSchema = z.object({ services: z.record(z.string(), serviceSchema) });

/** Reads the file with every password set but one. */
function read(unset?: string) {
  const { PATH, HOME } = process.env;
  const set = PASSWORDS.map((name) => [name, name === unset ? '' : 'changeit']);
  const env = { PATH, HOME, ...Object.fromEntries(set) };
  const { error, ...result } = spawnSync('go', ['run', '.', FILE], { cwd: FOLDER, env, encoding: 'utf8' });
  if (error) throw new Error('This check needs Go on PATH.', { cause: error });
  return result;
}

const problems: string[] = [];
for (const name of PASSWORDS) {
  const { status, stderr } = read(name);
  if (status === 0) problems.push(`it starts without ${name}`);
  else if (!stderr.includes(`required variable ${name} is missing a value`)) problems.push(stderr);
}
const { status, stdout, stderr } = read();
if (status !== 0) throw new Error(`docker-compose.yml cannot be read:\n${stderr}`);
const { services } = projectSchema.parse(JSON.parse(stdout));
const found = Object.entries(services).flatMap(([name, { build, ports, deploy, profiles }]) => [
  ...(build === undefined ? [] : [`${name} built`]),
  ...ports.map(({ host_ip, target }) => `${name} ${host_ip}:${target}`),
  ...(deploy?.replicas === undefined ? [] : [`${name} ${deploy.replicas} times`]),
  ...profiles.map((profile) => `${name} in ${profile}`),
]);
print(found.join(', '));
for (const [name, { image, build }] of Object.entries(services)) {
  const isOurs = build !== undefined || image === services.migrate?.image;
  if (!isOurs && !isPinned(image)) problems.push(`${name} is not pinned to a release: ${image}`);
}
if (found.sort().join() !== EXPECTED.join()) problems.push(`expected: ${EXPECTED.join(', ')}`);
conclude(problems, 'docker-compose.yml is in order.');

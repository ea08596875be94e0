/**
 * Has docker-compose.yml read by the parser that Docker Compose itself is built on (compose-go, fetched and built by Go
 * the first time), and checks what it understood: that an unset password stops it, that nothing but the server and
 * the Temporal UI is published, on loopback, and that one service builds the image. Ends with status 1 when anything is off.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { findOnPath } from '../src/local/executables.ts';

const PASSWORDS = ['POSTGRES_PASSWORD', 'CONTENT_DB_PASSWORD', 'TEMPORAL_DB_PASSWORD'] as const;
const file = fileURLToPath(new URL('../docker-compose.yml', import.meta.url));
const folder = fileURLToPath(new URL('./compose-check', import.meta.url));
const go = findOnPath('go', process.env) ?? findOnPath('go', { PATH: '/usr/local/go/bin' });
if (go === null) throw new Error('This check needs Go: there is none on PATH.');

const projectSchema = z.object({
  services: z.record(
    z.string(),
    z.object({
      image: z.string(),
      build: z.object({ context: z.string() }).optional(),
      ports: z.array(z.object({ host_ip: z.string().optional(), target: z.int() })).default([]),
      healthcheck: z
        .object({ test: z.array(z.string()).optional(), disable: z.boolean().optional() })
        .optional(),
      depends_on: z.record(z.string(), z.object({ condition: z.string() })).default({}),
      deploy: z.object({ replicas: z.int().optional() }).optional(),
    }),
  ),
  volumes: z.record(z.string(), z.unknown()),
});

function read(env: Record<string, string>) {
  const { PATH, HOME } = process.env;
  const { status, stdout, stderr } = spawnSync(String(go), ['run', '.', file], {
    cwd: folder,
    env: { PATH, HOME, ...env },
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

const problems: string[] = [];
const set = Object.fromEntries(PASSWORDS.map((name) => [name, 'changeit']));
for (const name of PASSWORDS) {
  const { status, stderr } = read({ ...set, [name]: '' });
  if (status === 0) problems.push(`it starts without ${name}`);
  else if (!stderr.includes(`required variable ${name} is missing a value`)) problems.push(stderr);
}
const { status, stdout, stderr } = read(set);
if (status !== 0) throw new Error(`docker-compose.yml cannot be read:\n${stderr}`);
const { services, volumes } = projectSchema.parse(JSON.parse(stdout));
const published = Object.entries(services).flatMap(([name, { ports }]) =>
  ports.map(({ host_ip, target }) => `${name} ${host_ip}:${target}`),
);
if (published.join() !== 'server 127.0.0.1:3000,temporal-ui 127.0.0.1:8080') {
  problems.push(`published: ${published.join(', ')}`);
}
const builders = Object.entries(services).flatMap(([name, { build }]) => (build === undefined ? [] : [name]));
if (builders.join() !== 'migrate') problems.push(`built by: ${builders.join(', ')}`);
if (services.worker?.deploy?.replicas !== 2) problems.push('there are not two workers');

process.stdout.write(
  `services: ${Object.keys(services).join(', ')}; volumes: ${Object.keys(volumes).join(', ')}\n`,
);
process.stdout.write(`published: ${published.join(', ')}\n`);
for (const problem of problems) process.stdout.write(`OFF: ${problem}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;

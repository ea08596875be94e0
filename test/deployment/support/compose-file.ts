import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';

const words = z.array(z.string());
const scalars = z.record(z.string(), z.union([z.string(), z.number()]).transform(String)).default({});

const serviceSchema = z.object({
  image: z.string(),
  profiles: words.default([]),
  build: z.string().optional(),
  pull_policy: z.string().optional(),
  entrypoint: words.optional(),
  command: words.optional(),
  environment: scalars,
  ports: words.default([]),
  volumes: words.default([]),
  configs: z.array(z.object({ source: z.string(), target: z.string() })).default([]),
  restart: z.string(),
  stop_grace_period: z.string().optional(),
  healthcheck: z.union([z.object({ disable: z.literal(true) }), z.object({ test: words })]).optional(),
  depends_on: z.record(z.string(), z.object({ condition: z.string() })).default({}),
  deploy: z.object({ replicas: z.int() }).optional(),
});

const composeSchema = z.object({
  services: z.record(z.string(), serviceSchema),
  configs: z.record(z.string(), z.object({ content: z.string() })),
});

/** The parts of a compose file that matter to a check. */
export type ComposeFile = z.infer<typeof composeSchema>;
export type ComposeService = z.infer<typeof serviceSchema>;

/**
 * Fills in `${NAME}`, `${NAME:-default}` and `${NAME:?message}`, and turns `$$` into a dollar sign.
 * @throws with the message of each required variable that is not set
 */
export const interpolate = (text: string, env: Readonly<Record<string, string | undefined>>): string =>
  text.replace(/\$\$|\$\{(\w+)(?::([-?])([^}]*))?\}/g, (whole, name: string, kind?: string, rest = '') => {
    if (whole === '$$') return '$';
    const value = env[name] ?? '';
    if (value !== '' || kind === undefined) return value;
    if (kind === '?') throw new Error(`${name}: ${rest}`);
    return rest;
  });

function deepInterpolate(value: unknown, env: Readonly<Record<string, string | undefined>>): unknown {
  if (typeof value === 'string') return interpolate(value, env);
  if (Array.isArray(value)) return value.map((item) => deepInterpolate(item, env));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, deepInterpolate(item, env)] as const),
  );
}

/** Reads a compose file with its variables filled in, as `docker compose` would see it. */
export function readCompose(path: string, env: Readonly<Record<string, string | undefined>>): ComposeFile {
  return composeSchema.parse(deepInterpolate(parse(readFileSync(path, 'utf8'), { merge: true }), env));
}

/** True for an image by digest, or by a tag of one release: not `latest`, nor a major version that moves on. */
export const isPinned = (image: string): boolean =>
  /@sha256:[0-9a-f]{64}$/.test(image) || /:v?\d+\.\d+(?:\.\d+)?(?:-[\w.-]+)?$/.test(image);

export function serviceOf(compose: ComposeFile, name: string): ComposeService {
  const service = compose.services[name];
  if (service === undefined) throw new Error(`docker-compose.yml has no service ${name}`);
  return service;
}

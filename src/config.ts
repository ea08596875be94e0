import { z } from 'zod';
import { parseNetworks } from './webhooks/sending/address-guard.ts';

/** A variable that is set but empty counts as not set, as shells and compose files produce them. */
const optional = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess((value) => (value === '' ? undefined : value), schema.optional());
const withDefault = <Schema extends z.ZodType>(schema: Schema, value: z.input<Schema>) =>
  z.preprocess((given) => (given === '' || given === undefined ? value : given), schema);

const port = z.coerce.number().int().min(0).max(65_535);
const count = z.coerce.number().int().min(0);
const flag = z.enum(['true', 'false']).transform((text) => text === 'true');
const postgresUrl = z
  .string()
  .refine(
    (text) => /^postgres(ql)?:\/\//.test(text) && URL.canParse(text),
    'expected postgres://user:password@host:port/database',
  );
const list = z.string().transform((text) =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== ''),
);
const networks = list.transform((cidrs, context) => {
  try {
    return parseNetworks(cidrs);
  } catch (error) {
    context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) });
    return z.NEVER;
  }
});
/** Checked like networks, but kept as text. */
const cidrs = list.superRefine((texts, context) => {
  try {
    parseNetworks(texts);
  } catch (error) {
    context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) });
  }
});

const environment = z.object({
  DATABASE_URL: optional(postgresUrl),
  DATABASE_DIRECT_URL: optional(postgresUrl),
  DATABASE_POOL_SIZE: withDefault(z.coerce.number().int().min(2).max(500), 20),
  TEMPORAL_ADDRESS: optional(z.string().regex(/^[^\s/]+:\d+$/, 'expected host:port')),
  TEMPORAL_NAMESPACE: withDefault(z.string(), 'default'),
  TEMPORAL_API_KEY: optional(z.string()),
  TEMPORAL_TLS: optional(flag),
  TEMPORAL_TASK_QUEUE_PREFIX: withDefault(z.string().regex(/^[\w.-]*$/, 'expected letters, digits, ._-'), ''),
  WORKFLOW_BUNDLE: optional(z.string()),
  PORT: withDefault(port, 3000),
  HOST: withDefault(z.string(), '127.0.0.1'),
  METRICS_PORT: withDefault(port, 0),
  LOG_LEVEL: withDefault(z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']), 'info'),
  DATA_DIR: withDefault(z.string(), '.data'),
  TRANSLATION_PROVIDER: withDefault(z.enum(['pseudo']), 'pseudo'),
  WEBHOOK_ALLOWED_NETWORKS: withDefault(networks, ''),
  RATE_LIMIT_PER_KEY: withDefault(count, 6_000),
  RATE_LIMIT_PER_WORKSPACE: withDefault(count, 24_000),
  RATE_LIMIT_AUTH_FAILURES: withDefault(count, 300),
  TRUSTED_PROXIES: withDefault(cidrs, ''),
  RECONCILE_AFTER_SECONDS: withDefault(z.coerce.number().min(0), 120),
  RETENTION_DAYS: withDefault(z.coerce.number().min(1), 30),
});

export type Config = Readonly<z.output<typeof environment>>;

/** What both processes need beyond the defaults: addresses that nothing can be guessed for. */
export type ConnectedConfig = Config & { readonly DATABASE_URL: string; readonly TEMPORAL_ADDRESS: string };

/** A configuration that stops the start; the message names each variable and what it should be. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

/**
 * Reads the environment variables that README.md lists.
 * @throws {ConfigurationError} naming every bad variable, never its value
 */
export function loadConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const parsed = environment.safeParse(env);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  throw new ConfigurationError(`Bad environment variables:\n  ${problems.join('\n  ')}`);
}

/**
 * Insists on the addresses of the database and of Temporal.
 * @throws {ConfigurationError} naming what is missing
 */
export function requireAddresses(config: Config): ConnectedConfig {
  const { DATABASE_URL, TEMPORAL_ADDRESS } = config;
  if (DATABASE_URL === undefined || TEMPORAL_ADDRESS === undefined) {
    const missing = [
      ...(DATABASE_URL === undefined ? ['DATABASE_URL'] : []),
      ...(TEMPORAL_ADDRESS === undefined ? ['TEMPORAL_ADDRESS'] : []),
    ];
    throw new ConfigurationError(
      `Set ${missing.join(' and ')}, or run \`npm start\`, which brings both engines with it.`,
    );
  }
  return { ...config, DATABASE_URL, TEMPORAL_ADDRESS };
}

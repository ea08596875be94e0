import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { z } from 'zod';
import {
  bucket,
  cachedWorkflows,
  cidrs,
  count,
  flag,
  fraction,
  headerList,
  httpUrl,
  networks,
  optional,
  pollers,
  port,
  postgresUrl,
  s3Endpoint,
  secretKeys,
  serviceName,
  slots,
  visible,
  whole,
  withDefault,
} from './config-fields.ts';

/** The variables that each translation engine or writer needs. Local model servers need no AI_API_KEY. */
const NEEDED_BY_PROVIDER = {
  pseudo: [],
  'openai-compatible': ['AI_BASE_URL', 'AI_MODEL'],
  deepl: ['DEEPL_API_KEY'],
  apertium: ['APERTIUM_URL'],
} as const;

/** The variables that each provider of images needs. Local servers need no IMAGE_API_KEY. */
const NEEDED_BY_IMAGE_PROVIDER = {
  pseudo: [],
  'openai-compatible': ['IMAGE_BASE_URL', 'IMAGE_MODEL_STANDARD'],
  none: [],
} as const;

/** The variables that each store of images needs. */
const NEEDED_BY_STORE = {
  folder: [],
  s3: ['S3_ENDPOINT', 'S3_BUCKET', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'],
} as const;
/** Where bytes of images are: the folder of DATA_DIR, or a bucket. */
export const BLOB_STORES = ['folder', 's3'] as const;
export type BlobStoreName = (typeof BLOB_STORES)[number];
/** Who searches the web: `pseudo` knows the pages that ship with the service. */
const SEARCH_PROVIDERS = ['pseudo', 'searxng'] as const;
export type SearchProviderName = (typeof SEARCH_PROVIDERS)[number];
/** More than the cores keep up with make all calls longer. */
const ENGINE_CALLS_PER_CORE = 16;

const TLS_FILES = ['TEMPORAL_TLS_CA', 'TEMPORAL_TLS_CERT', 'TEMPORAL_TLS_KEY'] as const;

const variables = z.object({
  DATABASE_URL: optional(postgresUrl),
  DATABASE_DIRECT_URL: optional(postgresUrl),
  DATABASE_POOL_SIZE: withDefault(whole(2, 500), 20),
  DATABASE_STATEMENT_TIMEOUT_SECONDS: withDefault(fraction(0, 3_600), 25),
  TEMPORAL_ADDRESS: optional(z.string().regex(/^[^\s/]+:\d+$/, 'expected host:port')),
  TEMPORAL_NAMESPACE: withDefault(z.string(), 'default'),
  TEMPORAL_API_KEY: optional(z.string()),
  TEMPORAL_TLS: optional(flag),
  TEMPORAL_TLS_CA: optional(z.string()),
  TEMPORAL_TLS_CERT: optional(z.string()),
  TEMPORAL_TLS_KEY: optional(z.string()),
  TEMPORAL_TASK_QUEUE_PREFIX: withDefault(z.string().regex(/^[\w.-]*$/, 'expected letters, digits, ._-'), ''),
  WORKFLOW_BUNDLE: optional(z.string()),
  WORKER_POLLERS: withDefault(pollers, 10),
  WEBHOOK_ACTIVITY_SLOTS: withDefault(slots, 1_000),
  WEBHOOK_CACHED_WORKFLOWS: withDefault(cachedWorkflows, 500),
  TRANSLATION_ACTIVITY_SLOTS: withDefault(slots, ENGINE_CALLS_PER_CORE * availableParallelism()),
  TRANSLATION_CACHED_WORKFLOWS: withDefault(cachedWorkflows, 100),
  PORT: withDefault(port, 3000),
  HOST: withDefault(z.string(), '127.0.0.1'),
  HTTP_MAX_CONNECTIONS: withDefault(whole(1, 1_000_000), 4_000),
  METRICS_PORT: withDefault(port, 0),
  METRICS_HOST: withDefault(z.string(), '127.0.0.1'),
  LOG_LEVEL: withDefault(z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']), 'info'),
  OTEL_EXPORTER_OTLP_ENDPOINT: optional(httpUrl),
  OTEL_EXPORTER_OTLP_HEADERS: withDefault(headerList, ''),
  OTEL_SERVICE_NAME: withDefault(serviceName, 'workspace-content-service'),
  OTEL_TRACES_SAMPLER_ARG: withDefault(fraction(0, 1), 1),
  DATA_DIR: withDefault(z.string(), '.data'),
  BLOB_STORE: withDefault(z.enum(BLOB_STORES), 'folder'),
  S3_ENDPOINT: optional(s3Endpoint),
  S3_BUCKET: optional(bucket),
  S3_REGION: withDefault(z.string().regex(/^[\w-]{1,64}$/, 'expected letters, digits, _-'), 'us-east-1'),
  S3_PATH_STYLE: withDefault(flag, 'true'),
  S3_SSE: optional(z.enum(['AES256', 'aws:kms'])),
  S3_ACCESS_KEY_ID: optional(visible),
  S3_SECRET_ACCESS_KEY: optional(z.string().min(1)),
  OPERATOR: optional(z.string().trim().min(1).max(120)),
  TRANSLATION_PROVIDER: withDefault(z.enum(['pseudo', 'openai-compatible', 'deepl', 'apertium']), 'pseudo'),
  AI_BASE_URL: optional(httpUrl),
  AI_MODEL: optional(z.string()),
  AI_API_KEY: optional(z.string()),
  DEEPL_API_KEY: optional(z.string()),
  DEEPL_SERVER_URL: optional(httpUrl),
  APERTIUM_URL: optional(httpUrl),
  GENERATION_PROVIDER: withDefault(z.enum(['pseudo', 'openai-compatible']), 'pseudo'),
  WEB_RESEARCH: withDefault(flag, 'false'),
  FACT_CHECKING: withDefault(flag, 'false'),
  SEARCH_PROVIDER: optional(z.enum(SEARCH_PROVIDERS)),
  SEARCH_BASE_URL: optional(httpUrl),
  RESEARCH_ALLOWED_NETWORKS: withDefault(networks, ''),
  AI_MODEL_PREMIUM: optional(z.string()),
  AI_MODEL_STANDARD: optional(z.string()),
  AI_FIRST_TOKEN_SECONDS: withDefault(fraction(1, 300), 180),
  AI_REASONING_TOKENS: withDefault(whole(0, 200_000), 4_096),
  AI_MAX_OUTPUT_TOKENS: withDefault(whole(1_000, 200_000), 16_384),
  AI_CONTEXT_TOKENS: withDefault(whole(8_000, 10_000_000), 32_000),
  /** `pseudo` where articles are written by pseudo, else `none`. */
  IMAGE_PROVIDER: optional(z.enum(['pseudo', 'openai-compatible', 'none'])),
  IMAGE_BASE_URL: optional(httpUrl),
  IMAGE_API_KEY: optional(z.string()),
  IMAGE_MODEL_STANDARD: optional(z.string()),
  IMAGE_MODEL_HD: optional(z.string()),
  IMAGE_TIMEOUT_SECONDS: withDefault(fraction(1, 300), 180),
  PROVIDER_TIMEOUT_SECONDS: withDefault(fraction(1, 600), 120),
  SECRETS_KEYS: withDefault(secretKeys, ''),
  SECRETS_AT_REST: withDefault(z.enum(['on', 'off']), 'on'),
  WEBHOOK_ALLOWED_NETWORKS: withDefault(networks, ''),
  IMAGE_ALLOWED_NETWORKS: withDefault(networks, ''),
  WEBHOOK_TRACEPARENT: withDefault(flag, 'false'),
  WEBHOOK_RUNS_PER_SECOND: withDefault(count, 10),
  /** How long an event or a delivery waits for an endpoint; never longer than RETENTION_DAYS. */
  WEBHOOK_MAX_AGE_HOURS: withDefault(fraction(1, 8_760), 72),
  RATE_LIMIT_PER_KEY: withDefault(count, 6_000),
  RATE_LIMIT_PER_WORKSPACE: withDefault(count, 24_000),
  RATE_LIMIT_PER_ADDRESS: withDefault(count, 6_000),
  RATE_LIMIT_AUTH_FAILURES: withDefault(count, 300),
  TRUSTED_PROXIES: withDefault(cidrs, ''),
  UNBILLED_LIMIT_WORDS: withDefault(count, 20_000),
  RECONCILE_AFTER_SECONDS: withDefault(fraction(0), 120),
  AI_WAIT_SECONDS: withDefault(fraction(1, 60), 60),
  RETENTION_DAYS: withDefault(fraction(1), 30),
  AUDIT_RETENTION_DAYS: withDefault(fraction(1), 400),
  /** Length of a partition of events and ended deliveries; a soak uses one minute. */
  PARTITION_MINUTES: withDefault(whole(1, 10_080), 1_440),
  BLOB_GRACE_DAYS: withDefault(fraction(0), 7),
  /** Days until a deleted workspace is emptied; until then it can be restored. */
  WORKSPACE_GRACE_DAYS: withDefault(fraction(0), 7),
  /** Days until an unused entry of the translation memory is removed. */
  MEMORY_DAYS: withDefault(fraction(1), 180),
});

const complete = variables.transform(({ IMAGE_PROVIDER, ...config }) => ({
  ...config,
  IMAGE_PROVIDER: IMAGE_PROVIDER ?? (config.GENERATION_PROVIDER === 'pseudo' ? 'pseudo' : 'none'),
}));

const environment = complete.superRefine((config, context) => {
  // Suggestions use the model whenever there is one, whatever the translation engine.
  if (
    config.AI_BASE_URL !== undefined &&
    config.AI_MODEL === undefined &&
    config.TRANSLATION_PROVIDER !== 'openai-compatible' &&
    config.GENERATION_PROVIDER !== 'openai-compatible'
  ) {
    context.addIssue({ code: 'custom', path: ['AI_MODEL'], message: 'needed with AI_BASE_URL, but not set' });
  }
  if (config.AI_REASONING_TOKENS >= config.AI_MAX_OUTPUT_TOKENS) {
    const message = `expected fewer than AI_MAX_OUTPUT_TOKENS, which is ${config.AI_MAX_OUTPUT_TOKENS}`;
    context.addIssue({ code: 'custom', path: ['AI_REASONING_TOKENS'], message });
  }
  if (config.SECRETS_AT_REST === 'off' && config.SECRETS_KEYS.length > 0) {
    context.addIssue({ code: 'custom', path: ['SECRETS_AT_REST'], message: 'off, but SECRETS_KEYS is set' });
  }
  // A certificate needs its key, and both need TLS.
  for (const [given, other] of [
    ['TEMPORAL_TLS_CERT', 'TEMPORAL_TLS_KEY'],
    ['TEMPORAL_TLS_KEY', 'TEMPORAL_TLS_CERT'],
  ] as const) {
    if (config[given] === undefined || config[other] !== undefined) continue;
    context.addIssue({ code: 'custom', path: [other], message: `needed with ${given}, but not set` });
  }
  for (const name of TLS_FILES) {
    if (config.TEMPORAL_TLS !== false || config[name] === undefined) continue;
    context.addIssue({ code: 'custom', path: ['TEMPORAL_TLS'], message: `false, but ${name} is set` });
  }
  for (const name of missingForStore(config, config.BLOB_STORE)) {
    const message = `needed by BLOB_STORE=${config.BLOB_STORE}, but not set`;
    context.addIssue({ code: 'custom', path: [name], message });
  }
  if (
    !config.S3_PATH_STYLE &&
    isIP(URL.parse(config.S3_ENDPOINT ?? '')?.hostname.replace(/[[\]]/g, '') ?? '')
  ) {
    const message = 'false, but S3_ENDPOINT is an address: no bucket can stand before it';
    context.addIssue({ code: 'custom', path: ['S3_PATH_STYLE'], message });
  }
  const isResearching = config.WEB_RESEARCH || config.FACT_CHECKING;
  if (isResearching && searchProviderOf(config) === 'searxng' && config.SEARCH_BASE_URL === undefined) {
    const message = 'needed by WEB_RESEARCH and FACT_CHECKING with SEARCH_PROVIDER=searxng, but not set';
    context.addIssue({ code: 'custom', path: ['SEARCH_BASE_URL'], message });
  }
  for (const variable of ['TRANSLATION_PROVIDER', 'GENERATION_PROVIDER'] as const) {
    for (const name of NEEDED_BY_PROVIDER[config[variable]]) {
      if (config[name] !== undefined) continue;
      const message = `needed by ${variable}=${config[variable]}, but not set`;
      context.addIssue({ code: 'custom', path: [name], message });
    }
  }
  for (const name of NEEDED_BY_IMAGE_PROVIDER[config.IMAGE_PROVIDER]) {
    if (config[name] !== undefined) continue;
    const message = `needed by IMAGE_PROVIDER=${config.IMAGE_PROVIDER}, but not set`;
    context.addIssue({ code: 'custom', path: [name], message });
  }
});

/** SEARCH_PROVIDER, which by default is `pseudo` only beside a `pseudo` that writes: made-up sources are for made-up articles. */
export const searchProviderOf = ({
  SEARCH_PROVIDER,
  GENERATION_PROVIDER,
}: Pick<z.output<typeof variables>, 'SEARCH_PROVIDER' | 'GENERATION_PROVIDER'>): SearchProviderName =>
  SEARCH_PROVIDER ?? (GENERATION_PROVIDER === 'pseudo' ? 'pseudo' : 'searxng');

/** The variables among these that the store needs and that are not set. */
export const missingForStore = (config: Partial<Config>, store: BlobStoreName): readonly string[] =>
  NEEDED_BY_STORE[store].filter((name) => config[name] === undefined);

export type Config = Readonly<z.output<typeof environment>>;

/** What both processes need beyond the defaults: addresses without a sensible default. */
export type ConnectedConfig = Config & { readonly DATABASE_URL: string; readonly TEMPORAL_ADDRESS: string };

/** A configuration that stops the start; the message names each variable and what it should be. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

/**
 * Reads the environment variables that docs/configuration.md lists.
 * @throws {ConfigurationError} naming every bad variable, never its value
 */
export function loadConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const parsed = environment.safeParse(env);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  throw new ConfigurationError(`Bad environment variables:\n  ${problems.join('\n  ')}`);
}

/**
 * Requires the addresses of the database and of Temporal.
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

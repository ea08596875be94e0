import { spawn } from 'node:child_process';
import { createWriteStream, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Logger, pino } from 'pino';
import { z } from 'zod';
import { loadConfig, requireAddresses } from '../../src/config.ts';
import { createDatabase, type Database } from '../../src/db/database.ts';
import { migrateToLatest } from '../../src/db/migrate.ts';
import { type Stack, startStack } from '../../src/local/stack.ts';
import { startServer } from '../../src/processes/server.ts';
import { startWorker } from '../../src/processes/worker.ts';
import { SECRETS_KEYS } from '../../test/support/secret-keys.ts';
import { startNeighbour } from './neighbour.ts';
import { type ApiDocument, judgedOperations } from './rules.ts';
import { type Seed, seedWorkspace } from './seed.ts';
import { schemathesisSettings } from './settings.ts';
import { fuzzSizes } from './sizes/run.ts';

const environment = z.object({
  FUZZ_SECONDS: z.coerce.number().int().min(10).default(480),
  FUZZ_EXAMPLES: z.coerce.number().int().min(1).default(100),
  /** How long each phase of the sizes may take. */
  FUZZ_SIZE_SECONDS: z.coerce.number().int().min(10).default(300),
  FUZZ_PART: z.enum(['forms', 'sizes', 'all']).default('all'),
  FUZZ_SEED: z.string().regex(/^\d+$/).optional(),
  FUZZ_SCHEMATHESIS: z.string(),
  FUZZ_FOLDER: z.string(),
  FUZZ_OUTER_NETWORK: z.string(),
});
type Settings = z.infer<typeof environment>;

/** @throws Error unless loopback is all there is to reach */
function requireIsolation(outerNetwork: string): void {
  const interfaces = readFileSync('/proc/net/dev', 'utf8')
    .split('\n')
    .slice(2)
    .map((line) => line.split(':')[0]?.trim() ?? '')
    .filter((name) => name !== '');
  const isOwn = readlinkSync('/proc/self/ns/net') !== outerNetwork;
  if (!isOwn || interfaces.join() !== 'lo') {
    throw new Error(`This network has a way out (${interfaces.join(', ')}); start me through run.ts.`);
  }
}

/** Runs schemathesis on the service and returns its exit code. */
async function fuzz(settings: Settings, url: string, seed: Seed): Promise<number> {
  const { FUZZ_FOLDER: folder } = settings;
  const file = join(folder, 'schemathesis.toml');
  const hooks = fileURLToPath(new URL('hooks.py', import.meta.url));
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as ApiDocument;
  const judged = judgedOperations(document);
  writeFileSync(file, schemathesisSettings({ seed, hooks, judged, examples: settings.FUZZ_EXAMPLES }));
  const args = [
    ['--config-file', file],
    ['run', `${url}/openapi.json`, '--checks=all', '--continue-on-failure', '--no-color'],
    [`--max-time=${settings.FUZZ_SECONDS}`],
    settings.FUZZ_SEED === undefined ? [] : [`--seed=${settings.FUZZ_SEED}`],
  ];
  const child = spawn(settings.FUZZ_SCHEMATHESIS, args.flat(), {
    cwd: folder,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { PATH: process.env.PATH, HOME: folder, FUZZ_OWN_KEY_ID: seed.ownKeyId },
  });
  process.once('SIGTERM', () => child.kill('SIGTERM'));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => resolve(code ?? 1));
  });
}

/** The environment of the service under test, on the engines of the stack. */
const serviceEnv = (settings: Settings, stack: Stack): Record<string, string> => ({
  DATABASE_URL: stack.databaseUrl,
  TEMPORAL_ADDRESS: stack.temporalAddress,
  PORT: '0',
  SECRETS_KEYS,
  WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
  DATA_DIR: settings.FUZZ_FOLDER,
});

/** Brings the service up, lets schemathesis at it and takes it down. */
async function fuzzForms(
  settings: Settings,
  stack: Stack,
  db: Database,
  neighbourUrl: string,
  logger: Logger,
): Promise<number> {
  const unlimited = { RATE_LIMIT_PER_KEY: '0', RATE_LIMIT_AUTH_FAILURES: '0' };
  const config = requireAddresses(loadConfig({ ...serviceEnv(settings, stack), ...unlimited }));
  const server = await startServer(config, logger);
  const worker = await startWorker(config, logger);
  const seed = await seedWorkspace({ db, url: server.url, neighbourUrl });
  const code = await fuzz(settings, server.url, seed);
  await server.stop();
  await worker.stop();
  return code;
}

/** Both parts on one database, or the one that FUZZ_PART names. */
async function fuzzService(settings: Settings, stack: Stack, logger: Logger): Promise<number> {
  const db = createDatabase({ connectionString: stack.databaseUrl });
  const neighbour = await startNeighbour();
  try {
    await migrateToLatest(db);
    let code = 0;
    if (settings.FUZZ_PART !== 'sizes') {
      code = await fuzzForms(settings, stack, db, neighbour.url, logger);
    }
    if (settings.FUZZ_PART !== 'forms') {
      const broken = await fuzzSizes(serviceEnv(settings, stack), db, {
        neighbourUrl: neighbour.url,
        seconds: settings.FUZZ_SIZE_SECONDS,
      });
      for (const line of broken.slice(0, 50)) process.stderr.write(`BROKEN ${line}\n`);
      process.stderr.write(`${broken.length} promises broken by sizes\n`);
      if (broken.length > 0) code = 1;
    }
    return code;
  } finally {
    await neighbour.close();
    await db.destroy();
  }
}

async function main(): Promise<number> {
  const settings = environment.parse(process.env);
  requireIsolation(settings.FUZZ_OUTER_NETWORK);
  const logFile = join(settings.FUZZ_FOLDER, 'service.log');
  const logger = pino({ level: 'info' }, createWriteStream(logFile));
  const stack = await startStack({
    ephemeral: true,
    onProgress: (line) => process.stderr.write(`${line}\n`),
  });
  const code = await fuzzService(settings, stack, logger).finally(() => stack.stop());
  const faults = readFileSync(logFile, 'utf8')
    .split('\n')
    .filter((line) => /"level":(?:50|60)/.test(line));
  for (const line of faults) process.stderr.write(`${line}\n`);
  process.stderr.write(`${faults.length} errors in the service's log\n`);
  return code === 0 && faults.length > 0 ? 1 : code;
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error);
  process.exit(1);
}

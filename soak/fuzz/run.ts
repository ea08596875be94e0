import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findTemporalCli } from '../../src/local/temporal-cli.ts';

/** The release whose checks the service was last seen to pass. */
const SCHEMATHESIS_VERSION = '4.32.5';

const print = (line: string): void => void process.stderr.write(`${line}\n`);

/** Runs a command with our own output. @throws Error when it does not end with 0 */
const run = (command: string, args: readonly string[]): Promise<void> =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'] });
    child.on('error', (error) => reject(new Error(`${command} cannot be run: ${error.message}`)));
    child.on('exit', (code, signal) =>
      code === 0 ? resolve() : reject(new Error(`${command} ended with ${signal ?? code}`)),
    );
  });

/** The schemathesis command, in a virtual environment that later runs find again. */
async function installSchemathesis(): Promise<string> {
  const folder = join(tmpdir(), `wcs-schemathesis-${SCHEMATHESIS_VERSION}`);
  const command = join(folder, 'bin', 'schemathesis');
  if (existsSync(command)) return command;
  print(`Installing schemathesis ${SCHEMATHESIS_VERSION} into ${folder}`);
  try {
    await run('python3', ['-m', 'venv', folder]);
    await run(join(folder, 'bin', 'pip'), ['install', '--quiet', `schemathesis==${SCHEMATHESIS_VERSION}`]);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  return command;
}

/** A shell that raises loopback, the only interface there is, and becomes the given command. */
const LOOPBACK_ONLY = ['sh', '-c', 'ip link set lo up && exec "$@"', 'loopback'];

/**
 * The words before a command that give it a network of its own with nothing but loopback in it. Who is not
 * root gets the right to make one from a user namespace, and its own user id back inside: Postgres
 * refuses to run as root.
 */
function isolation(): string[] {
  const uid = process.getuid?.() ?? 0;
  const gid = process.getgid?.() ?? 0;
  if (uid === 0) return ['--net', '--', ...LOOPBACK_ONLY];
  const backToUser = ['unshare', '--user', `--map-user=${uid}`, `--map-group=${gid}`, '--'];
  return ['--map-root-user', '--net', '--', ...LOOPBACK_ONLY, ...backToUser];
}

/**
 * `npm run fuzz`: every route, as /openapi.json describes it, against schemathesis with all of its checks, then every
 * field of every route at and beyond its bounds while another tenant looks on (sizes/run.ts). The service, its engines and schemathesis run where nothing but loopback exists: the fuzzer registers
 * receivers at any address it can think of, and none of them may ever hear from us. What needs a network,
 * the tools, is fetched before.
 *
 * FUZZ_PART (forms, sizes) runs one part alone, FUZZ_SIZE_SECONDS (300) bounds the sizes. FUZZ_SECONDS
 * (480) bounds the time of schemathesis, FUZZ_EXAMPLES (100) the cases per operation and phase, FUZZ_SEED
 * repeats a run.
 */
async function main(): Promise<number> {
  if (process.platform !== 'linux') {
    throw new Error('Fuzzing needs a network without a way out, which only Linux namespaces give.');
  }
  await run('unshare', [...isolation(), 'true']).catch((error: unknown) => {
    throw new Error('Fuzzing runs only in a network namespace of its own, and this machine gives none.', {
      cause: error,
    });
  });
  const schemathesis = process.env.FUZZ_PART === 'sizes' ? 'none' : await installSchemathesis();
  const { path: temporal } = await findTemporalCli({ env: process.env, onProgress: print });
  const folder = mkdtempSync(join(tmpdir(), 'wcs-fuzz-'));
  const isolated = fileURLToPath(new URL('isolated.ts', import.meta.url));
  const child = spawn('unshare', [...isolation(), process.execPath, isolated], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      TMPDIR: process.env.TMPDIR,
      TEMPORAL_CLI_PATH: temporal,
      FUZZ_SECONDS: process.env.FUZZ_SECONDS,
      FUZZ_EXAMPLES: process.env.FUZZ_EXAMPLES,
      FUZZ_SEED: process.env.FUZZ_SEED,
      FUZZ_SIZE_SECONDS: process.env.FUZZ_SIZE_SECONDS,
      FUZZ_PART: process.env.FUZZ_PART,
      FUZZ_SCHEMATHESIS: schemathesis,
      FUZZ_FOLDER: folder,
      FUZZ_OUTER_NETWORK: readlinkSync('/proc/self/ns/net'),
    },
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  const code = await new Promise<number>((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (status) => resolve(status ?? 1));
  });
  if (code === 0) rmSync(folder, { recursive: true, force: true });
  else print(`The service's log and schemathesis' settings are in ${folder}`);
  return code;
}

try {
  process.exitCode = await main();
} catch (error) {
  print(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}

import { execFile, spawn } from 'node:child_process';
import { accessSync, chmodSync, cpSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { cacheFolder, findOnPath } from '../../src/local/executables.ts';
import { waitForLock } from '../../src/local/lock.ts';
import { seconds } from '../support/report.ts';

const MODULE = 'go.temporal.io/server';
const BUILD_WAIT_MS = 30 * 60_000;
const TELL_EVERY_MS = 15_000;

/** What the images temporalio/server and temporalio/admin-tools have in them, as far as a cluster on Postgres needs it. */
export interface TemporalServerFiles {
  readonly server: string;
  readonly sqlTool: string;
  /** Has the folders temporal/versioned and visibility/versioned. */
  readonly schema: string;
}

/**
 * Finds a release of the Temporal server in the user's cache, or builds it there with Go: 3 to 10 minutes, once.
 * @param version such as 1.32.0
 * @throws when it is not there and there is no Go, or the build fails
 */
export async function temporalServerFiles(
  version: string,
  print: (line: string) => void,
): Promise<TemporalServerFiles> {
  const folder = join(cacheFolder(process.env), `temporal-server-v${version}`);
  const files = {
    server: join(folder, 'server'),
    sqlTool: join(folder, 'sql'),
    schema: join(folder, 'schema'),
  };
  if (isComplete(files)) return files;
  mkdirSync(folder, { recursive: true });
  const attempt = await waitForLock(join(folder, 'build.lock'), 'build', { timeoutMs: BUILD_WAIT_MS });
  if ('heldBy' in attempt) throw new Error(`process ${attempt.heldBy.pid} has been building it for too long`);
  try {
    if (!isComplete(files)) await build(version, folder, print);
  } finally {
    attempt.lock.release();
  }
  return files;
}

function isComplete(files: TemporalServerFiles): boolean {
  try {
    for (const file of Object.values(files)) accessSync(file);
    return true;
  } catch {
    return false;
  }
}

async function build(version: string, folder: string, print: (line: string) => void): Promise<void> {
  const go = findOnPath('go', process.env) ?? findOnPath('go', { PATH: '/usr/local/go/bin' });
  if (go === null) throw new Error(`Go is needed once, to build Temporal ${version}: there is none on PATH.`);
  const scratch = join(folder, 'scratch');
  rmSync(scratch, { recursive: true, force: true });
  mkdirSync(scratch);
  print(`Building Temporal ${version} with Go: 3 to 10 minutes, once`);
  const packages = ['cmd/server', 'cmd/tools/sql'].map((path) => `${MODULE}/${path}@v${version}`);
  await install(go, packages, scratch, print);
  const { stdout } = await promisify(execFile)(go, ['mod', 'download', '-json', `${MODULE}@v${version}`]);
  const { Dir: source } = JSON.parse(stdout) as { Dir: string };
  const schema = join(scratch, 'schema');
  cpSync(join(source, 'schema/postgresql/v12'), schema, { recursive: true });
  // Go keeps its sources closed to changes, and so would the copy be to its own removal.
  for (const entry of readdirSync(schema, { recursive: true, encoding: 'utf8' })) {
    chmodSync(join(schema, entry), 0o755);
  }
  for (const name of ['server', 'sql', 'schema']) {
    rmSync(join(folder, name), { recursive: true, force: true });
    renameSync(join(scratch, name), join(folder, name));
  }
  rmSync(scratch, { recursive: true, force: true });
}

async function install(
  go: string,
  packages: readonly string[],
  bin: string,
  print: (line: string) => void,
): Promise<void> {
  const startedAt = Date.now();
  const child = spawn(go, ['install', '-v', ...packages], {
    cwd: bin,
    env: { ...process.env, GOBIN: bin },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let lines = 0;
  let last = '';
  createInterface({ input: child.stderr }).on('line', (line) => {
    lines += 1;
    last = line;
  });
  const teller = setInterval(
    () => print(`  ${seconds(Date.now() - startedAt, 0)} s, ${lines} modules and packages, now ${last}`),
    TELL_EVERY_MS,
  );
  try {
    const code = await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', resolve);
    });
    if (code !== 0) throw new Error(`go install ended with status ${code}: ${last}`);
  } finally {
    clearInterval(teller);
  }
}

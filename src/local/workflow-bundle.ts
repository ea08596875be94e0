import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { errorCode } from '../error-text.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The inputs of a bundle: our sources, and the locked versions of packages. */
const INPUTS = ['workflows', 'src', 'package-lock.json'];

/**
 * The path of the workflow bundle in the data folder. It is named after a hash of its inputs, so it is built only when
 * they change.
 */
export async function cachedWorkflowBundle(dataDir: string): Promise<string> {
  const folder = join(resolve(dataDir), 'workflows');
  const name = `${await hashInputs()}.cjs`;
  const file = join(folder, name);
  if (await exists(file)) return file;
  // Loaded here, because the bundler takes a second to load.
  const { bundleWorkflows } = await import('../temporal/bundle.ts');
  const { code } = await bundleWorkflows();
  await mkdir(folder, { recursive: true });
  const draft = `${file}.${randomBytes(6).toString('hex')}.tmp`;
  await writeFile(draft, code);
  await rename(draft, file);
  for (const old of await readdir(folder)) if (old !== name) await rm(join(folder, old), { force: true });
  return file;
}

async function hashInputs(): Promise<string> {
  const hash = createHash('sha256');
  for (const input of INPUTS) {
    for (const file of await filesOf(join(ROOT, input))) {
      hash
        .update(file.slice(ROOT.length))
        .update('\0')
        .update(await readFile(file))
        .update('\0');
    }
  }
  return hash.digest('hex').slice(0, 32);
}

async function filesOf(path: string): Promise<string[]> {
  if (!(await stat(path)).isDirectory()) return [path];
  const names = await readdir(path, { recursive: true });
  return names
    .filter((name) => name.endsWith('.ts'))
    .sort()
    .map((name) => join(path, name));
}

async function exists(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw error;
  }
}

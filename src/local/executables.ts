import { accessSync, constants, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

/** The user's cache folder, by the platform's convention. */
export function cacheFolder(env: NodeJS.ProcessEnv): string {
  const name = 'workspace-content-service';
  const home = env.HOME ?? homedir();
  if (process.platform === 'darwin') return join(home, 'Library', 'Caches', name);
  // XDG Base Directory Specification: a relative XDG_CACHE_HOME is ignored.
  const base = env.XDG_CACHE_HOME?.startsWith('/') ? env.XDG_CACHE_HOME : join(home, '.cache');
  return join(base, name);
}

/** Every executable of this name on PATH, in PATH's order. */
export function findAllOnPath(name: string, env: NodeJS.ProcessEnv): string[] {
  return (env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, name))
    .filter(isExecutable);
}

/** Whether there is an executable file at this path. */
export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

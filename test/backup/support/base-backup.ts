import { copyFile, mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { errorCode } from '../../../src/error-text.ts';
import { type PostgresEngine, startPostgres } from '../../../src/local/postgres.ts';
import { withServer } from '../../support/database-url.ts';
import type { BackupMethod } from './method.ts';

/** Of the running server alone, or made anew at its start; WAL is copied once the backup has ended. */
const LEFT_OUT = /^(postmaster\.(pid|opts)|pg_(wal|dynshmem|notify|serial|snapshots|stat_tmp|subtrans)\/.+)$/;
const CONTROL_FILE = join('global', 'pg_control');

/**
 * An online base backup, as pg_basebackup takes one, by the same server functions: the files are copied while the
 * server writes to them, and the WAL of that time makes them consistent when the copy is started.
 */
export const baseBackup: BackupMethod = {
  name: 'a base backup',
  async take(source, folder) {
    await withServer(source.databaseUrl, async (client) => {
      await client.query("SELECT pg_backup_start('test', true)");
      await copyFiles(source.folder, folder, (file) => !LEFT_OUT.test(file) && file !== CONTROL_FILE);
      await copyFiles(source.folder, folder, (file) => file === CONTROL_FILE);
      const { rows } = await client.query<{ labelfile: string }>(
        'SELECT labelfile FROM pg_backup_stop(wait_for_archive => false)',
      );
      await writeFile(join(folder, 'backup_label'), rows[0]?.labelfile ?? '');
    });
    await copyFiles(source.folder, folder, (file) => /^pg_wal\/[0-9A-F]{24}$/.test(file));
    return {
      async restore(into) {
        await copyFiles(folder, join(into, 'postgres'), () => true);
        return startCluster(into);
      },
    };
  },
};

/** Postgres on `<folder>/postgres`, made when there is none. */
export async function startCluster(folder: string): Promise<PostgresEngine> {
  await mkdir(folder, { recursive: true });
  return startPostgres({
    dataDir: folder,
    durable: true,
    detached: false,
    onSpawn: () => undefined,
    onProgress: () => undefined,
  });
}

/** Copies the wanted files, and all folders. What a live server removes meanwhile is not missed. */
async function copyFiles(from: string, to: string, wanted: (file: string) => boolean): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o700 });
  for (const entry of await readdir(from, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const file = relative(from, path);
    if (entry.isDirectory()) {
      await mkdir(join(to, file), { recursive: true, mode: 0o700 });
    } else if (wanted(file.replaceAll(sep, '/'))) {
      await mkdir(dirname(join(to, file)), { recursive: true, mode: 0o700 });
      await copyFile(path, join(to, file)).catch((error: unknown) => {
        if (errorCode(error) !== 'ENOENT') throw error;
      });
    }
  }
}

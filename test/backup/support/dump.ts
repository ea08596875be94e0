import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startCluster } from './base-backup.ts';
import type { BackupMethod } from './method.ts';

const run = promisify(execFile);

/** A logical dump in the custom format, restored into a new cluster; `tools` is the folder of pg_dump and pg_restore. */
export const dump = (tools: string): BackupMethod => ({
  name: 'a dump',
  async take(source, folder) {
    await mkdir(folder);
    const file = join(folder, 'wcs.dump');
    await run(join(tools, 'pg_dump'), ['--format=custom', '--file', file, '--dbname', source.databaseUrl]);
    return {
      async restore(into) {
        const engine = await startCluster(into);
        const options = ['--exit-on-error', '--no-owner', '--dbname', engine.databaseUrl];
        await run(join(tools, 'pg_restore'), [...options, file]);
        return engine;
      },
    };
  },
});

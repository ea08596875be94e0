import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { cacheFolder, isExecutable } from '../../src/local/executables.ts';

const MODULE = 'go.temporal.io/server';

/** What a cluster on Postgres needs of the images temporalio/server and temporalio/admin-tools. */
export interface TemporalServer {
  readonly server: string;
  readonly sqlTool: string;
  /** Has the folders temporal/versioned and visibility/versioned. */
  readonly schema: string;
}

/**
 * A release of the Temporal server, from the user's cache, or built there by Go, which checks all sources against its
 * checksum database: 3 to 10 minutes, once.
 * @param version such as 1.32.0
 */
export function temporalServer(version: string): TemporalServer {
  const bin = join(cacheFolder(process.env), `temporal-server-v${version}`);
  const [server, sqlTool] = [join(bin, 'server'), join(bin, 'sql')];
  const go = (...args: string[]) =>
    execFileSync('go', args, {
      env: { ...process.env, GOBIN: bin },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  if (!isExecutable(server) || !isExecutable(sqlTool)) {
    go('install', '-v', `${MODULE}/cmd/server@v${version}`, `${MODULE}/cmd/tools/sql@v${version}`);
  }
  const { Dir: source } = JSON.parse(go('mod', 'download', '-json', `${MODULE}@v${version}`)) as {
    Dir: string;
  };
  return { server, sqlTool, schema: join(source, 'schema/postgresql/v12') };
}

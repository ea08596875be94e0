import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findTemporalCli } from '../../src/local/temporal-cli.ts';
import { accepts, LOOPBACK } from '../../src/ports.ts';
import type { ComposeFile, ComposeService } from '../../test/deployment/support/compose-file.ts';
import { quietPort } from '../support/durable-engines.ts';
import { completed, type Program, startProgram, stopProgram } from './programs.ts';
import { temporalServerFiles } from './temporal-build.ts';

export interface TemporalCluster {
  readonly address: string;
  readonly server: Program;
  stop(): Promise<void>;
}

export interface ClusterOptions {
  readonly compose: ComposeFile;
  readonly folder: string;
  readonly postgresPort: number;
  readonly print: (line: string) => void;
}

/** Variables of the server's own configuration that take a port of this machine. */
const PORTS = [
  'FRONTEND_GRPC_PORT',
  'FRONTEND_HTTP_PORT',
  'FRONTEND_MEMBERSHIP_PORT',
  'HISTORY_GRPC_PORT',
  'HISTORY_MEMBERSHIP_PORT',
  'MATCHING_GRPC_PORT',
  'MATCHING_MEMBERSHIP_PORT',
  'WORKER_GRPC_PORT',
  'WORKER_MEMBERSHIP_PORT',
] as const;
const READY_MS = 60_000;
const ONE_SHOT_MS = 90_000;

export function serviceOf(compose: ComposeFile, name: string): ComposeService {
  const service = compose.services[name];
  if (service === undefined) throw new Error(`docker-compose.yml has no service ${name}`);
  return service;
}

/** What the compose file puts at a path of a service's container. */
function fileOf(compose: ComposeFile, service: ComposeService, path: string | undefined): string {
  const mount = service.configs.find(({ target }) => target === path);
  const content = mount && compose.configs[mount.source]?.content;
  if (content === undefined) throw new Error(`docker-compose.yml puts no file at ${path}`);
  return content;
}

/**
 * Temporal on Postgres as the compose file has it: the same release, configured by the compose file's environment, and
 * the compose file's own commands for the schema (twice, as a second `up` does) and the namespace. Only addresses differ.
 */
export async function startTemporalCluster(options: ClusterOptions): Promise<TemporalCluster> {
  const { compose, folder, postgresPort, print } = options;
  const service = serviceOf(compose, 'temporal');
  const version = /:(.+)$/.exec(service.image)?.[1] ?? '';
  const files = await temporalServerFiles(version, print);
  const cli = await findTemporalCli({ env: process.env, onProgress: print });
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  symlinkSync(files.sqlTool, join(bin, 'temporal-sql-tool'));
  symlinkSync(cli.path, join(bin, 'temporal'));
  const path = { PATH: `${bin}:/usr/bin:/bin`, HOME: folder };
  const oneShot = async (name: string, env: Record<string, string>) => {
    const { entrypoint = [], command = [], environment } = serviceOf(compose, name);
    const log = join(folder, `${name}.log`);
    const program = startProgram([...entrypoint, ...command], { ...environment, ...path, ...env }, log);
    const timer = setTimeout(() => program.kill('SIGKILL'), ONE_SHOT_MS);
    await completed(name, program).finally(() => clearTimeout(timer));
  };

  print('Making the schema of Temporal');
  const database = { SQL_HOST: LOOPBACK, SQL_PORT: String(postgresPort), SCHEMA: files.schema };
  await oneShot('temporal-schema', database);
  await oneShot('temporal-schema', database);

  const dynamicConfig = join(folder, 'dynamic.yaml');
  writeFileSync(dynamicConfig, fileOf(compose, service, service.environment.DYNAMIC_CONFIG_FILE_PATH));
  const ports = await Promise.all(PORTS.map(quietPort));
  const address = `${LOOPBACK}:${ports[0]}`;
  print(`Starting Temporal ${version} at ${address}`);
  const server = startProgram(
    // As the image's own entry point does: the configuration is the environment.
    [files.server, 'start'],
    {
      ...service.environment,
      ...path,
      ...Object.fromEntries(PORTS.map((name, index) => [name, String(ports[index])])),
      POSTGRES_SEEDS: LOOPBACK,
      DB_PORT: String(postgresPort),
      BIND_ON_IP: LOOPBACK,
      TEMPORAL_BROADCAST_ADDRESS: LOOPBACK,
      DYNAMIC_CONFIG_FILE_PATH: dynamicConfig,
    },
    join(folder, 'temporal.log'),
    { cwd: folder },
  );
  const deadline = Date.now() + READY_MS;
  while (!(await accepts(ports[0] ?? 0))) {
    const ended = await Promise.race([server.ended.then(() => true), sleep(200, false)]);
    if (ended || Date.now() > deadline) throw new Error(`Temporal does not listen:\n${server.log()}`);
  }
  await oneShot('temporal-namespace', { TEMPORAL_ADDRESS: address });
  return {
    address,
    server,
    async stop() {
      await stopProgram(server, 10_000);
    },
  };
}

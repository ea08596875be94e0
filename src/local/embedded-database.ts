import { mkdirSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Progress } from './engine.ts';
import { tryLock } from './lock.ts';
import { type PostgresEngine, postgresResponds, startPostgres, stopPostgres } from './postgres.ts';
import { isAlive, ownIdentity } from './process-identity.ts';
import { readStackRecord, removeStackRecord, type StackRecord, writeStackRecord } from './stack-file.ts';

/** How long a command waits for another command, or for a starting stack, in milliseconds. */
const WAIT_MS = 90_000;

/**
 * Runs a command on the embedded database of a data folder. A running Postgres is used; otherwise one is started for the
 * command and ended after it. Concurrent commands take turns, and a starting stack waits.
 *
 * @param use gets the database's URL (with its password); its result or error is passed on
 * @throws Error when the database does not come up, or stays in use by others for too long
 */
export async function withEmbeddedDatabase<T>(
  dataDir: string,
  use: (databaseUrl: string) => Promise<T>,
  onProgress: Progress = () => undefined,
): Promise<T> {
  mkdirSync(dataDir, { recursive: true });
  const folder = realpathSync(resolve(dataDir));
  const deadline = Date.now() + WAIT_MS;
  for (;;) {
    const attempt = tryLock(join(folder, 'stack.lock'), 'command');
    if ('lock' in attempt) {
      try {
        return await useUnderLock(folder, use, onProgress);
      } finally {
        attempt.lock.release();
      }
    }
    const { heldBy } = attempt;
    const postgres = readStackRecord(folder)?.postgres ?? null;
    if (heldBy.purpose === 'stack' && postgres !== null && isAlive(postgres.process)) {
      if (await postgresResponds(postgres)) return use(postgres.databaseUrl);
    }
    if (Date.now() > deadline) {
      throw new Error(
        `The embedded database in ${folder} is in use by process ${heldBy.pid} and does not respond.`,
      );
    }
    await sleep(100);
  }
}

async function useUnderLock<T>(
  dataDir: string,
  use: (databaseUrl: string) => Promise<T>,
  onProgress: Progress,
): Promise<T> {
  const left = readStackRecord(dataDir);
  // Left by a crashed owner; the next start takes it over.
  if (left?.postgres && (await postgresResponds(left.postgres))) return use(left.postgres.databaseUrl);
  if (left?.postgres) await stopPostgres(left.postgres);
  const record: StackRecord = { owner: ownIdentity(), postgres: null, temporal: left?.temporal ?? null };
  const spawned: { postgres: PostgresEngine | null } = { postgres: null };
  try {
    const engine = await startPostgres({
      dataDir,
      durable: true,
      // In our process group, so that Ctrl-C also ends the database.
      detached: false,
      onProgress,
      onSpawn: (postgres) => {
        spawned.postgres = postgres;
        writeStackRecord(dataDir, { ...record, postgres });
      },
    });
    return await use(engine.databaseUrl);
  } finally {
    if (spawned.postgres !== null) await stopPostgres(spawned.postgres);
    if (record.temporal === null) removeStackRecord(dataDir);
    else writeStackRecord(dataDir, record);
  }
}

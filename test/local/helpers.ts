import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import { isAlive } from '../../src/local/process-identity.ts';
import { readStackRecord, type StackRecord } from '../../src/local/stack-file.ts';
import { memoryFolder } from '../support/memory-folder.ts';

const upSchema = z.object({
  databaseUrl: z.string(),
  temporalAddress: z.string(),
  temporalNamespace: z.string(),
  temporalUiUrl: z.string().nullable(),
});

export type Outcome = { code: number | null; stdout: string; stderr: string };

/** A script of this folder, running. */
export type Script = { child: ChildProcess; firstLine: Promise<string>; ended: Promise<Outcome> };

/**
 * A folder with mode 0700, as `mktemp -d` makes it, removed after the test.
 * @param onEnd of the test's own context, where it runs beside others
 */
export function temporaryFolder(onEnd = onTestFinished, parent = tmpdir()): string {
  const folder = mkdtempSync(join(parent, 'wcs-local-'));
  onEnd(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** The same for data of engines. */
export const dataFolder = (onEnd = onTestFinished): string => temporaryFolder(onEnd, memoryFolder());

export function runScript(name: string, ...args: string[]): Script {
  const path = fileURLToPath(new URL(name, import.meta.url));
  const child = spawn(process.execPath, [path, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const seen = { stdout: '', stderr: '' };
  child.stderr.on('data', (data) => {
    seen.stderr += data;
  });
  const ended = new Promise<Outcome>((resolve) => {
    child.once('close', (code) => resolve({ code, ...seen }));
  });
  const firstLine = new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (data) => {
      seen.stdout += data;
      if (seen.stdout.includes('\n')) resolve(seen.stdout.split('\n')[0] ?? '');
    });
    void ended.then(() => reject(new Error(`${name} ended without a line: ${seen.stderr}`)));
  });
  firstLine.catch(() => undefined);
  return { child, firstLine, ended };
}

/** Starts a process that owns a stack, and waits until the stack is up. */
export async function startOwner(dataDir: string) {
  const script = runScript('owner.ts', dataDir);
  const stack = upSchema.parse(JSON.parse(await script.firstLine));
  return { ...script, stack };
}

/** Kills a process the hard way and waits until it is gone. */
export async function killHard(script: Script): Promise<void> {
  script.child.kill('SIGKILL');
  await script.ended;
}

export async function query<T extends pg.QueryResultRow>(databaseUrl: string, sql: string): Promise<T[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return (await client.query<T>(sql)).rows;
  } finally {
    await client.end();
  }
}

/** The numbers of the engine processes that stack.json names. */
export function enginePids(dataDir: string): { postgres: number | undefined; temporal: number | undefined } {
  const record: StackRecord | null = readStackRecord(dataDir);
  return { postgres: record?.postgres?.process.pid, temporal: record?.temporal?.process.pid };
}

/** The engines that stack.json names and that are alive. */
export function runningEngines(dataDir: string): ('postgres' | 'temporal')[] {
  const record = readStackRecord(dataDir);
  return (['postgres', 'temporal'] as const).filter((name) => {
    const engine = record?.[name];
    return engine !== null && engine !== undefined && isAlive(engine.process);
  });
}

/** Ends engines that a failed test may have left on the folder. */
export function endEnginesAfterTest(dataDir: string, onEnd = onTestFinished): void {
  onEnd(() => {
    for (const pid of Object.values(enginePids(dataDir))) {
      try {
        if (pid !== undefined) process.kill(pid, 'SIGKILL');
      } catch {
        // Gone already, as it should be.
      }
    }
  });
}

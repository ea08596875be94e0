import { type StdioOptions, spawn } from 'node:child_process';
import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { dirname, parse } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorMessage } from '../error-text.ts';
import type { Invocation } from './privileges.ts';
import { identifyProcess, isAlive, type ProcessIdentity } from './process-identity.ts';

/** Reports progress of slow work; one short sentence per call. */
export type Progress = (message: string) => void;

/** An engine's log file is rotated at this many bytes. */
const LOG_LIMIT = 10 * 1024 * 1024;

/** The environment variables of engines: enough to find libraries and folders, no secrets of the service. */
const ENGINE_VARIABLES = ['PATH', 'HOME', 'TMPDIR', 'LD_LIBRARY_PATH'];

/** A spawned engine process and its log. */
export type SpawnedEngine = { process: ProcessIdentity; log: EngineLog };

/** The part of a log file that belongs to one process. */
export type EngineLog = { file: string; offset: number };

/** The engine ended before it was ready. Its last log lines are in the message. */
export class EngineExitedError extends Error {
  override readonly name = 'EngineExitedError';
}

/**
 * Spawns an engine with its output appended to a log file. A detached engine has its own process group, so that Ctrl-C
 * reaches only this process. It never keeps this process alive.
 *
 * @throws EngineExitedError when it cannot be started or is gone at once
 */
export async function spawnEngine(
  name: string,
  call: Invocation,
  options: { logFile: string; detached: boolean },
): Promise<SpawnedEngine> {
  const { fd, offset } = openLog(options.logFile);
  const log = { file: options.logFile, offset };
  try {
    const stdio: StdioOptions = ['ignore', fd, fd];
    const { command, args, ...account } = call;
    const child = spawn(command, args, {
      ...account,
      stdio,
      cwd: parse(options.logFile).root,
      detached: options.detached,
      env: engineEnvironment(),
    });
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
    child.unref();
    const identity = child.pid === undefined ? null : identifyProcess(child.pid);
    if (identity === null) throw exited(name, log);
    return { process: identity, log };
  } catch (error) {
    if (error instanceof EngineExitedError) throw error;
    throw new EngineExitedError(`${name} cannot be started: ${errorMessage(error)}`, { cause: error });
  } finally {
    closeSync(fd);
  }
}

/**
 * Waits until an engine responds.
 *
 * @param probe true when it is ready, false to retry; an error ends the wait
 * @throws EngineExitedError when the process ends first, Error after `timeoutMs`
 */
export async function untilReady(
  name: string,
  engine: SpawnedEngine,
  probe: () => Promise<boolean>,
  wait: { timeoutMs: number; signal?: AbortSignal | undefined },
): Promise<void> {
  const deadline = Date.now() + wait.timeoutMs;
  for (;;) {
    wait.signal?.throwIfAborted();
    const ready = await probe();
    // Checked last: the response may come from another process that took the port.
    if (!isAlive(engine.process)) throw exited(name, engine.log);
    if (ready) return;
    if (Date.now() > deadline) {
      throw new Error(`${name} was not ready within ${wait.timeoutMs / 1000} s.${lastLines(engine.log)}`);
    }
    await sleep(25);
  }
}

/** Up to three attempts at work that can lose a race for a port, or find remains of a killed process. */
export async function withAttempts<T>(
  attempt: () => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  for (let left = 2; ; left -= 1) {
    signal?.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      if (left === 0 || !(error instanceof EngineExitedError)) throw error;
      await sleep(300);
    }
  }
}

/** The environment of engines and their tools. */
export function engineEnvironment(): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = { LC_ALL: 'C', TZ: 'UTC' };
  for (const name of ENGINE_VARIABLES) if (process.env[name] !== undefined) env[name] = process.env[name];
  return env;
}

function exited(name: string, log: EngineLog): EngineExitedError {
  return new EngineExitedError(`${name} ended while it was starting.${lastLines(log)}`);
}

function lastLines(log: EngineLog): string {
  const text = readFileSync(log.file).subarray(log.offset).toString('utf8').trim();
  const lines = text === '' ? '' : `\n${text.split('\n').slice(-8).join('\n')}`;
  return ` Its log is ${log.file}.${lines}`;
}

function openLog(file: string): { fd: number; offset: number } {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > LOG_LIMIT) renameSync(file, `${file}.1`);
  const fd = openSync(file, 'a', 0o600);
  return { fd, offset: fstatSync(fd).size };
}

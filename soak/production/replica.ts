import { setTimeout as sleep } from 'node:timers/promises';
import type { Image } from '../support/image.ts';
import { type Program, stopProgram, watch } from './programs.ts';

/** One container of a service: a process that is started again whenever it ends. */
export interface Replica {
  readonly name: string;
  /** kill -9; resolves when another process is ready in its place. */
  kill(): Promise<void>;
  readonly pid: () => number;
  /** False from a kill until another process is ready. */
  readonly ready: () => boolean;
  /** Ends that were not asked for here, with the last lines of the log. */
  readonly faults: readonly string[];
  /** Ends it in order and returns its exit code. */
  stop(): Promise<number | NodeJS.Signals | null>;
  /** The address it said that it listens on; empty for a worker. */
  readonly url: () => string;
}

const READY = /"msg":"(?:listening on (\S+?)"|worker started)/;
const READY_MS = 60_000;

/** Starts a command of the image and keeps it running. */
export async function startReplica(
  name: string,
  image: Image,
  command: readonly string[],
  env: Readonly<Record<string, string>>,
  logFile: string,
): Promise<Replica> {
  const faults: string[] = [];
  let url = '';
  let expected = false;

  async function launch(): Promise<Program> {
    const program = watch(image.start(command, env), logFile);
    const deadline = Date.now() + READY_MS;
    for (;;) {
      const found = READY.exec(program.log());
      if (found !== null) {
        url = found[1] ?? '';
        break;
      }
      const ended = await Promise.race([program.ended.then(() => true), sleep(50, false)]);
      if (ended || Date.now() > deadline) throw new Error(`${name} is not ready:\n${program.log()}`);
    }
    program.ended.then((how) => {
      if (!expected) faults.push(`${name} ended with ${how}: ${program.log().slice(-600)}`);
    });
    return program;
  }

  let ready = true;
  let current = await launch();
  return {
    name,
    faults,
    url: () => url,
    pid: () => current.pid,
    ready: () => ready,
    async kill() {
      expected = true;
      ready = false;
      current.kill('SIGKILL');
      await current.ended;
      expected = false;
      current = await launch();
      ready = true;
    },
    stop() {
      expected = true;
      return stopProgram(current);
    },
  };
}

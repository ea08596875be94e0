import { setTimeout as sleep } from 'node:timers/promises';
import { type ServiceProcess, startProcess } from '../../test/support/processes.ts';

/** A process that is started again whenever it ends, as a process manager does. */
export interface Supervised {
  /** 0 while there is none. */
  readonly pid: () => number;
  /** False from a kill until another process is there. */
  readonly ready: () => boolean;
  /** kill -9; resolves when another process is there. */
  kill(): Promise<void>;
  /** SIGSTOP. @returns how to let it go on; that does nothing when it was killed meanwhile */
  freeze(): () => void;
  /** Ends that were not asked for here, or not in order, with the last lines of the log. */
  readonly faults: string[];
  /** Ends it in order. */
  stop(): Promise<void>;
}

const PAUSE_MS = 500;

/** Keeps `server.ts` or `worker.ts` running; resolves once it is there for the first time. */
export async function supervise(
  file: 'server.ts' | 'worker.ts',
  env: Record<string, string>,
): Promise<Supervised> {
  const faults: string[] = [];
  let current: ServiceProcess | undefined = await startProcess(file, env);
  let stopping = false;
  let killed = false;
  let back = Promise.withResolvers<void>();
  const loop = async () => {
    while (!stopping) {
      if (current !== undefined) {
        const how = await current.ended;
        if (!killed && !(stopping && how === 0))
          faults.push(`${file} ended with ${how}: ${current.log().slice(-600)}`);
        current = undefined;
      }
      killed = false;
      if (stopping) break;
      await sleep(PAUSE_MS);
      try {
        current = await startProcess(file, env);
        back.resolve();
        back = Promise.withResolvers();
      } catch (error) {
        faults.push(`${file} did not start: ${String(error).slice(-600)}`);
      }
    }
    current?.kill('SIGTERM');
    await current?.ended;
    back.resolve();
  };
  const running = loop();
  return {
    faults,
    pid: () => current?.pid ?? 0,
    ready: () => current !== undefined && !killed,
    kill() {
      killed = true;
      current?.kill('SIGKILL');
      return back.promise;
    },
    freeze() {
      const frozen = current;
      frozen?.kill('SIGSTOP');
      return () => frozen?.kill('SIGCONT');
    },
    async stop() {
      stopping = true;
      current?.kill('SIGTERM');
      await running;
    },
  };
}

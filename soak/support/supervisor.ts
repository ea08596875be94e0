import { setTimeout as sleep } from 'node:timers/promises';
import { type ServiceProcess, startProcess } from '../../test/support/processes.ts';

/** A process that is started again whenever it ends, as a process manager does. */
export interface Supervised {
  /** kill -9. */
  kill(): void;
  /** SIGSTOP. @returns how to let it go on; that does nothing when it was killed meanwhile */
  freeze(): () => void;
  /** How often it ended without having been killed here, with the last lines of its log. */
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
  const loop = async () => {
    while (!stopping) {
      if (current !== undefined) {
        const how = await current.ended;
        if (!killed && !stopping) faults.push(`${file} ended with ${how}: ${current.log().slice(-600)}`);
        current = undefined;
      }
      killed = false;
      if (stopping) return;
      await sleep(PAUSE_MS);
      try {
        current = await startProcess(file, env);
      } catch (error) {
        faults.push(`${file} did not start: ${String(error).slice(-600)}`);
      }
    }
  };
  const running = loop();
  return {
    faults,
    kill() {
      killed = true;
      current?.kill('SIGKILL');
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

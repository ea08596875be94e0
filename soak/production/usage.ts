import { readFileSync } from 'node:fs';
import { loadavg } from 'node:os';

const EVERY_MS = 2_000;

export interface Usage {
  /** Ends the watch. @returns the most resident memory of each, and the machine's load, as text */
  stop(): { readonly memory: string; readonly load: string };
}

/** Resident memory; 0 while the process is not there. */
function memoryMiB(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1_024;
  } catch {
    return 0;
  }
}

/** Watches the memory of processes, whichever has the name at the time, and the load of the machine. */
export function watchUsage(
  processes: readonly { readonly name: string; readonly pid: () => number }[],
): Usage {
  const most = new Map<string, number>();
  const loads: number[] = [];
  const look = () => {
    for (const { name, pid } of processes) {
      most.set(name, Math.max(most.get(name) ?? 0, memoryMiB(pid())));
    }
    loads.push(loadavg()[0] ?? 0);
  };
  const timer = setInterval(look, EVERY_MS);
  return {
    stop() {
      clearInterval(timer);
      look();
      const mean = loads.reduce((sum, load) => sum + load, 0) / loads.length;
      return {
        memory: [...most].map(([name, mebibytes]) => `${name} ${mebibytes.toFixed(0)} MiB`).join(', '),
        load: `mean ${mean.toFixed(1)}, most ${Math.max(...loads).toFixed(1)}`,
      };
    },
  };
}

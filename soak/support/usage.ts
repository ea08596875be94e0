import { readFileSync } from 'node:fs';
import { loadavg } from 'node:os';

const EVERY_MS = 2_000;

/** Resident memory of a process in MiB, now and at its highest (proc(5)); 0 while it is not there. */
export function memory(pid: number): { now: number; highest: number } {
  const read = (name: string, status: string) =>
    Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1_024;
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return { now: read('VmRSS', status), highest: read('VmHWM', status) };
  } catch {
    return { now: 0, highest: 0 };
  }
}

export interface Usage {
  /** Ends the watch. @returns the most resident memory of each, and the machine's load, as text */
  stop(): { readonly memory: string; readonly load: string };
}

/** Watches the memory of processes, whichever has the name at the time, and the load of the machine. */
export function watchUsage(processes: Readonly<Record<string, () => number>>): Usage {
  const most = new Map<string, number>();
  const loads: number[] = [];
  const look = () => {
    for (const [name, pid] of Object.entries(processes)) {
      most.set(name, Math.max(most.get(name) ?? 0, memory(pid()).now));
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

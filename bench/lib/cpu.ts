import { readdirSync, readFileSync } from 'node:fs';

/** Of a second: what Linux counts CPU time in (sysconf(_SC_CLK_TCK), 100 everywhere that Node runs). */
const TICKS = 100;

interface Stat {
  readonly pid: number;
  readonly parent: number;
  readonly own: number;
  /** Of children that have ended and were waited for. */
  readonly ended: number;
}

function readStat(pid: number): Stat | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name, in parentheses, may have spaces of its own.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const field = (number: number) => Number(fields[number - 3]);
    return { pid, parent: field(4), own: field(14) + field(15), ended: field(16) + field(17) };
  } catch {
    return null;
  }
}

/** CPU time of a process and all it has started, in milliseconds (Linux: proc(5)). */
export function cpuTimeOf(root: number): number {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => readStat(Number(name)))
    .filter((stat) => stat !== null);
  const children = Map.groupBy(all, ({ parent }) => parent);
  const sum = ({ pid, own, ended }: Stat): number =>
    (children.get(pid) ?? []).reduce((total, child) => total + sum(child), own + ended);
  const stat = all.find(({ pid }) => pid === root);
  return stat === undefined ? Number.NaN : (sum(stat) * 1_000) / TICKS;
}

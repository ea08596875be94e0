import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';
import { median, print, quantile, table } from '../../soak/support/report.ts';

/** Measurements of one thing of ours and of the bare thing beside it, taken in turns in one run. */
export interface Comparison {
  /** What was measured, with its unit: `listing keys, requests/s`. */
  readonly name: string;
  /** True when more is better, as of rates; false for times. */
  readonly higherIsBetter: boolean;
  readonly ours: readonly number[];
  readonly bare: readonly number[];
  /** The ratio of ours to bare that is promised: at least it for rates, at most it for times. */
  readonly promised?: number;
}

/** A figure without a comparison. */
export interface Figure {
  readonly name: string;
  readonly values: readonly number[];
}

export interface FigureSummary {
  readonly name: string;
  readonly samples: number;
  readonly median: number;
  readonly p95: number;
  readonly lowest: number;
  readonly highest: number;
}

/** The result of a suite, written as JSON. */
export interface SuiteResult {
  readonly suite: string;
  readonly machine: Machine;
  readonly comparisons: readonly (Comparison & { readonly ratio: number; readonly kept: boolean | null })[];
  readonly figures: readonly FigureSummary[];
}

export interface Machine {
  readonly node: string;
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGiB: number;
  /** Of the last minute, when the suite ended: above the number of cores somebody else was working too. */
  readonly load: number;
}

export const describeMachine = (): Machine => ({
  node: process.version,
  cpu: cpus()[0]?.model ?? 'unknown',
  cores: availableParallelism(),
  memoryGiB: Math.round(totalmem() / 2 ** 30),
  load: Math.round((loadavg()[0] ?? 0) * 100) / 100,
});

const rounded = (value: number): number => Number(value.toPrecision(4));

/**
 * The median of the rounds' own ratios: what else the machine had to do in a round fell on both sides of it.
 */
const ratioOf = ({ ours, bare }: Comparison): number =>
  median(ours.map((value, round) => value / (bare[round] ?? Number.NaN)));

export function judge(comparison: Comparison): { ratio: number; kept: boolean | null } {
  const { promised, higherIsBetter } = comparison;
  const ratio = ratioOf(comparison);
  if (promised === undefined) return { ratio, kept: null };
  return { ratio, kept: higherIsBetter ? ratio >= promised : ratio <= promised };
}

/** Rows of a table of comparisons: the head first. */
export const comparisonRows = (
  comparisons: readonly (Comparison & { ratio: number; kept: boolean | null })[],
): (string | number)[][] => [
  ['measured', 'ours', 'bare', 'ours / bare', 'promised', ''],
  ...comparisons.map(({ name, ours, bare, ratio, kept, promised, higherIsBetter }) => [
    name,
    rounded(median(ours)),
    rounded(median(bare)),
    ratio.toFixed(2),
    promised === undefined ? '' : `${higherIsBetter ? '>=' : '<='} ${promised}`,
    kept === null ? '' : kept ? 'kept' : 'MISSED',
  ]),
];

const summarize = ({ name, values }: Figure): FigureSummary => ({
  name,
  samples: values.length,
  median: rounded(median(values)),
  p95: rounded(quantile(values, 0.95)),
  lowest: rounded(Math.min(...values)),
  highest: rounded(Math.max(...values)),
});

/** Rows of a table of figures: the head first. */
export const figureRows = (figures: readonly FigureSummary[]): (string | number)[][] => [
  ['measured', 'samples', 'median', 'p95', 'lowest', 'highest'],
  ...figures.map(({ name, samples, median, p95, lowest, highest }) => [
    name,
    samples,
    median,
    p95,
    lowest,
    highest,
  ]),
];

/**
 * Prints a suite's tables and, when BENCH_RESULT names a file, writes them there as JSON. The process ends
 * with 1 when a promised ratio was missed.
 */
export function report(
  suite: string,
  comparisons: readonly Comparison[],
  figures: readonly Figure[] = [],
): void {
  const judged = comparisons.map((comparison) => ({
    ...comparison,
    ours: comparison.ours.map(rounded),
    bare: comparison.bare.map(rounded),
    ...judge(comparison),
  }));
  const summaries = figures.map(summarize);
  const result: SuiteResult = { suite, machine: describeMachine(), comparisons: judged, figures: summaries };
  print();
  print(table(comparisonRows(judged)));
  if (summaries.length > 0) {
    print();
    print(table(figureRows(summaries)));
  }
  const { node, cpu, cores, memoryGiB, load } = result.machine;
  print(`\nNode ${node}, ${cores} cores of ${cpu}, ${memoryGiB} GiB, load ${load}`);
  if (process.env.BENCH_RESULT) writeFileSync(process.env.BENCH_RESULT, `${JSON.stringify(result)}\n`);
  if (judged.some(({ kept }) => kept === false)) process.exitCode = 1;
}

/** Runs the measurements in turns, `rounds` times, each round in the other order than the one before. */
export async function alternate<Name extends string>(
  rounds: number,
  measurements: Readonly<Record<Name, () => Promise<number>>>,
): Promise<Record<Name, number[]>> {
  const names = Object.keys(measurements) as Name[];
  const results = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  for (let round = 0; round < rounds; round += 1) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      results[name].push(await measurements[name]());
    }
    const line = names.map((name) => `${name} ${rounded(results[name].at(-1) ?? Number.NaN)}`);
    print(`round ${round + 1} of ${rounds}: ${line.join(', ')}`);
  }
  return results;
}

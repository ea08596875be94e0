/** Writes a line of the script's report. */
export const print = (line = ''): void => void process.stdout.write(`${line}\n`);

/** A number from the environment. */
export const setting = (name: string, otherwise: number): number => Number(process.env[name] ?? otherwise);

/** Prints lines behind the seconds that have passed since this call. */
export function startClock(): (line: string) => void {
  const startedAt = Date.now();
  return (line) => print(`${seconds(Date.now() - startedAt, 1).padStart(7)} s  ${line}`);
}

/** Ends the report: prints what is off, of which the process ends with status 1, or that all is well. */
export function conclude(problems: readonly string[], well: string): void {
  for (const problem of problems.slice(0, 20)) print(`OFF: ${problem}`);
  print(problems.length === 0 ? well : `${problems.length} problems.`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}

/** Rows as an aligned table in plain text, its first row being the head. */
export function table(rows: readonly (readonly (string | number)[])[]): string {
  const cells = rows.map((row) => row.map(String));
  const widths = (cells[0] ?? []).map((_, column) =>
    Math.max(...cells.map((row) => row[column]?.length ?? 0)),
  );
  return cells
    .map((row) => row.map((cell, column) => cell.padStart(widths[column] ?? 0)).join('  '))
    .join('\n');
}

/** A table of one row of figures, each below its name. */
export const figures = (values: Readonly<Record<string, string | number>>): string =>
  table([Object.keys(values), Object.values(values)]);

/** The value below which `share` (0 to 1) of the values lie. NaN when there are none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

/** Milliseconds as seconds, such as "30.02". */
export const seconds = (ms: number, digits = 2): string => (ms / 1_000).toFixed(digits);

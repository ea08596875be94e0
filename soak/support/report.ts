/** Writes a line of the script's report. */
export const print = (line = ''): void => void process.stdout.write(`${line}\n`);

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

/** The value below which `share` (0 to 1) of the values lie. NaN when there are none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

/** Milliseconds as seconds, such as "30.02". */
export const seconds = (ms: number, digits = 2): string => (ms / 1_000).toFixed(digits);

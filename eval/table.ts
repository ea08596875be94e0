import type { EvalResult } from './evaluate.ts';

/** Prices of a million tokens, in any currency; null when they were not given. */
export interface TokenPrices {
  readonly input: number;
  readonly output: number;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
const shown = (holds: boolean): string => (holds ? 'yes' : 'no');

/** The header of the table, and a row for each brief and for all. */
export function tableOf(results: readonly EvalResult[], prices: TokenPrices | null): string[][] {
  const header = ['brief', 'language', 'calls', 'repairs', 'failed', 'input', 'output', 's', 'words', 'of'];
  header.push(
    'sections',
    'edits',
    'keyword in lead, heading',
    'near copies',
    'figures',
    'links',
    'pages',
    'notes',
    'cited',
    'forms',
    'cost',
    'result',
  );
  const rows = results.map((result) => {
    const { brief, calls, written, failure } = result;
    const checks = written?.checks;
    const keyword = checks?.keyword;
    return [
      brief.name,
      brief.config.language,
      ...countsOf([result]),
      checks === undefined ? '' : String(checks.words),
      String(brief.config.wordCount),
      checks === undefined ? '' : String(checks.sections),
      checks === undefined ? '' : String(checks.edits),
      keyword == null ? '' : [keyword.inLead, keyword.inHeading].map(shown).join(', '),
      checks === undefined ? '' : String(checks.nearCopies.length),
      checks === undefined ? '' : String(checks.figures.length),
      checks === undefined ? '' : `${checks.links} of ${brief.links.length}`,
      written?.researched == null ? '' : String(written.researched.pagesRead),
      written?.researched == null ? '' : String(written.researched.notes.length),
      checks === undefined ? '' : String(checks.cited),
      Object.entries(checks?.forms ?? {})
        .map(([form, count]) => `${count} ${form}`)
        .join(', '),
      costOf(calls, prices),
      failure ?? 'written',
    ];
  });
  const calls = results.flatMap((result) => result.calls);
  const words = sum(results.map(({ written }) => written?.checks.words ?? 0));
  const ordered = sum(results.map(({ brief }) => brief.config.wordCount));
  const written = `${results.filter((result) => result.written !== null).length} of ${results.length} written`;
  const all = [
    'all',
    '',
    ...countsOf(results),
    String(words),
    String(ordered),
    ...Array<string>(10).fill(''),
  ];
  return [header, ...rows, [...all, costOf(calls, prices), written]];
}

function countsOf(results: readonly EvalResult[]): string[] {
  const calls = results.flatMap((result) => result.calls);
  return [
    calls.length,
    calls.filter(({ repairs }) => repairs.length > 0).length,
    calls.filter(({ failure }) => failure !== null).length,
    sum(calls.map(({ usage }) => usage?.input ?? 0)),
    sum(calls.map(({ usage }) => usage?.output ?? 0)),
    Math.round(sum(results.map(({ ms }) => ms)) / 1_000),
  ].map(String);
}

function costOf(calls: EvalResult['calls'], prices: TokenPrices | null): string {
  if (prices === null) return '';
  const input = sum(calls.map(({ usage }) => usage?.input ?? 0)) * prices.input;
  const output = sum(calls.map(({ usage }) => usage?.output ?? 0)) * prices.output;
  return ((input + output) / 1_000_000).toFixed(4);
}

/** The table for a terminal, in columns. */
export function textTable(table: readonly (readonly string[])[]): string {
  const widths = (table[0] ?? []).map((_, column) =>
    Math.max(...table.map((row) => row[column]?.length ?? 0)),
  );
  return table
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/**
 * `npm run bench`: every suite, one after the other, each as a process of its own, then one table of all ratios.
 * Names of suites as arguments run only those: `npm run bench -- auth`. Ends with 1 when a suite failed or a promised
 * ratio was missed. The results are kept in bench/results.json, those of suites that were not run as they were;
 * BENCH_JSON names another file.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { print, table } from '../soak/support/report.ts';
import { comparisonRows, figureRows, type SuiteResult } from './lib/suite.ts';

const SUITES = {
  auth: 'auth/list.ts',
  articles: 'articles/list.ts',
  links: 'articles/links.ts',
  documents: 'documents/loop.ts',
  tenants: 'documents/tenants.ts',
  uploads: 'media/uploads.ts',
  hostile: 'research/hostile.ts',
  categories: 'categories/rename.ts',
  translations: 'translations/overhead.ts',
  states: 'translations/states.ts',
  turns: 'translations/turns.ts',
  shares: 'translations/shares.ts',
  webhooks: 'webhooks/deliveries.ts',
  bursts: 'webhooks/bursts.ts',
  singles: 'webhooks/singles.ts',
  traced: 'webhooks/traced.ts',
  workers: 'webhooks/workers.ts',
  paced: 'webhooks/paced.ts',
  neighbours: 'webhooks/neighbours.ts',
  pull: 'events/pull.ts',
} as const;

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in SUITES));
if (unknown.length > 0) {
  print(`No suite ${unknown.join(', ')}. There are: ${Object.keys(SUITES).join(', ')}.`);
  process.exit(2);
}

const file = process.env.BENCH_JSON || fileURLToPath(new URL('results.json', import.meta.url));

/** Writes the results so far, so that an interrupted bench keeps them. */
function keep(results: readonly SuiteResult[]): void {
  const earlier = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as SuiteResult[]) : [];
  const kept = earlier.filter(({ suite }) => !results.some((result) => result.suite === suite));
  const order = Object.keys(SUITES);
  const all = [...kept, ...results].sort((a, b) => order.indexOf(a.suite) - order.indexOf(b.suite));
  const text = JSON.stringify(all, null, 2);
  // A line for each comparison and figure, so that a change of one is a change of one line.
  const lines = text.replace(
    /^ {6}\{$.*?^ {6}\}/gms,
    (entry) => `      ${JSON.stringify(JSON.parse(entry))}`,
  );
  writeFileSync(file, `${lines}\n`);
}

const folder = mkdtempSync(join(tmpdir(), 'wcs-bench-'));
const results: SuiteResult[] = [];
const failed: string[] = [];
for (const [name, script] of Object.entries(SUITES)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const startedAt = performance.now();
  print(`\n${name}: bench/${script}`);
  const resultFile = join(folder, `${name}.json`);
  const child = spawn(process.execPath, [fileURLToPath(new URL(script, import.meta.url))], {
    stdio: 'inherit',
    env: { ...process.env, BENCH_RESULT: resultFile },
  });
  const code = await new Promise((resolve) => child.once('exit', resolve));
  if (code !== 0) failed.push(name);
  if (existsSync(resultFile)) results.push(JSON.parse(readFileSync(resultFile, 'utf8')) as SuiteResult);
  keep(results);
  print(`took ${Math.round((performance.now() - startedAt) / 1_000)} s`);
}
rmSync(folder, { recursive: true, force: true });

print();
print(table(comparisonRows(results.flatMap(({ comparisons }) => comparisons))));
const figures = results.flatMap((result) => result.figures);
if (figures.length > 0) {
  print();
  print(table(figureRows(figures)));
}

print(`\nKept in ${file}.`);
if (failed.length > 0) {
  print(`\nFailed or missed: ${failed.join(', ')}`);
  process.exitCode = 1;
}

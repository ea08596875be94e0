/**
 * `npm run bench`: every suite, one after the other, each as a process of its own, then one table of all ratios.
 * Names of suites as arguments run only those: `npm run bench -- auth`. Ends with 1 when a suite failed or a promised
 * ratio was missed. BENCH_JSON names a file for the results.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { say, table } from '../test/scripts/support/report.ts';
import { comparisonRows, type SuiteResult } from './lib/suite.ts';

const SUITES = {
  auth: 'auth/list.ts',
  articles: 'articles/list.ts',
  categories: 'categories/rename.ts',
  translations: 'translations/overhead.ts',
  webhooks: 'webhooks/deliveries.ts',
  bursts: 'webhooks/bursts.ts',
} as const;

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in SUITES));
if (unknown.length > 0) {
  say(`No suite ${unknown.join(', ')}. There are: ${Object.keys(SUITES).join(', ')}.`);
  process.exit(2);
}

const folder = mkdtempSync(join(tmpdir(), 'wcs-bench-'));
const results: SuiteResult[] = [];
const failed: string[] = [];
for (const [name, file] of Object.entries(SUITES)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  say(`\n${name}: bench/${file}`);
  const resultFile = join(folder, `${name}.json`);
  const child = spawn(process.execPath, [fileURLToPath(new URL(file, import.meta.url))], {
    stdio: 'inherit',
    env: { ...process.env, BENCH_RESULT: resultFile },
  });
  const code = await new Promise((resolve) => child.once('exit', resolve));
  if (code !== 0) failed.push(name);
  if (existsSync(resultFile)) results.push(JSON.parse(readFileSync(resultFile, 'utf8')) as SuiteResult);
}
rmSync(folder, { recursive: true, force: true });

say();
say(table(comparisonRows(results.flatMap(({ comparisons }) => comparisons))));
if (process.env.BENCH_JSON) writeFileSync(process.env.BENCH_JSON, `${JSON.stringify(results, null, 2)}\n`);
if (failed.length > 0) {
  say(`\nFailed or missed: ${failed.join(', ')}`);
  process.exitCode = 1;
}

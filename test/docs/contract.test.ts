import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const page = readFileSync(new URL('../../docs/contract.md', import.meta.url), 'utf8');

/** A promise: its number, and what it says. */
const PROMISE = /^- \*\*([A-Z]\d+)\*\* (.+)$/;
/** The file and title of a test that shows it. */
const SHOWN = /_\((\S+\.test\.ts): (.+?)\)_/g;

const lines = page.split('\n').filter((line) => line.startsWith('- '));
const promises = lines.map((line) => {
  const [, number = '', text = ''] = PROMISE.exec(line) ?? [];
  const tests = [...text.matchAll(SHOWN)].map(([, file = '', title = '']) => ({ file, title }));
  return { line, number, text, tests };
});

it('every promise has a number of its own and names a test that is there', () => {
  expect(lines.length).toBeGreaterThan(100);
  const bare = promises.filter(
    ({ line, number, tests }) => number === '' || tests.length === 0 || !line.endsWith(')_'),
  );
  expect(bare.map(({ line }) => line)).toEqual([]);
  const missing = promises.flatMap(({ number, tests }) =>
    tests
      .filter(({ file, title }) => {
        const source = readFileSync(new URL(`../${file}`, import.meta.url), 'utf8').replaceAll("\\'", "'");
        return !new RegExp(`\\(\\s*['"\`]${RegExp.escape(title)}`).test(source);
      })
      .map(({ file, title }) => `${number}: ${file}: ${title}`),
  );
  expect(missing).toEqual([]);
});

it('the promises of an area stand in the order of their numbers, each used once', () => {
  const areas = Map.groupBy(promises, ({ number }) => number.replace(/\d+/, ''));
  for (const members of areas.values()) {
    const numbers = members.map(({ number }) => Number(number.slice(1)));
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
  }
});

import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const page = readFileSync(new URL('../../docs/contract.md', import.meta.url), 'utf8');

/** A promise: its number, what it says, and the file and title of the test that shows it. */
const PROMISE = /^- \*\*([A-Z]\d+)\*\* (.+) _\((\S+\.test\.ts): (.+)\)_$/;

const lines = page.split('\n').filter((line) => line.startsWith('- '));
const promises = lines.map((line) => {
  const [, number = '', text = '', file = '', title = ''] = PROMISE.exec(line) ?? [];
  return { line, number, text, file, title };
});

it('every promise has a number of its own and names a test that is there', () => {
  expect(lines.length).toBeGreaterThan(100);
  expect(promises.filter(({ number }) => number === '').map(({ line }) => line)).toEqual([]);
  const missing = promises.filter(({ file, title }) => {
    const source = readFileSync(new URL(`../${file}`, import.meta.url), 'utf8').replaceAll("\\'", "'");
    return !new RegExp(`\\(\\s*['"\`]${RegExp.escape(title)}`).test(source);
  });
  expect(missing.map(({ number, file, title }) => `${number}: ${file}: ${title}`)).toEqual([]);
});

it('the promises of an area stand in the order of their numbers, each used once', () => {
  const areas = Map.groupBy(promises, ({ number }) => number.replace(/\d+/, ''));
  for (const members of areas.values()) {
    const numbers = members.map(({ number }) => Number(number.slice(1)));
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
  }
});

import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (file: string): string => readFileSync(`${root}${file}`, 'utf8');

/** A promise: its number, and what it says. */
const PROMISE = /^- \*\*([A-Z]\d+)\*\* (.+)$/;
/**
 * What stands behind the name of the page: promises (`contract.md K3`, `contract.md G1, G2 and G7`, `contract.md C7 to C11`)
 * or an area (`contract.md K`). A list is on one line, where grep finds each of its numbers; a range shows its two ends only.
 */
const CITATION = /contract\.md ([A-Z]\d*\b(?:(?:, | and | to )[A-Z]\d+\b)*)/g;
/** A section of a page: `design.md §9`. */
const SECTION = /\b([\w-]+\.md) §(\d+)/g;

const lines = read('docs/contract.md')
  .split('\n')
  .filter((line) => line.startsWith('- '));
const promises = lines.map((line) => {
  const [, number = '', text = ''] = PROMISE.exec(line) ?? [];
  return { line, number, text };
});

/** The lines of those files, but of this one, which shows the grammar. */
const linesOf = (folders: string) =>
  globSync(folders, { cwd: root })
    .filter((file) => file !== 'test/docs/contract.test.ts')
    .flatMap((file) =>
      read(file)
        .split('\n')
        .map((text, index) => ({ place: `${file}:${index + 1}`, text })),
    );
const keeping = linesOf('{src,workflows,activities,test}/**/*.ts');
const others = linesOf('{*,{bench,examples,migrations,soak}/**/*}.ts');

const citations = (sources: typeof keeping) =>
  sources.flatMap(({ place, text }) =>
    [...text.matchAll(CITATION)].flatMap(([, names = '']) =>
      names.split(/, | and | to /).map((name) => ({ place, name })),
    ),
  );

it('every promise has a number of its own, and those of an area stand in their order', () => {
  expect(lines.length).toBeGreaterThan(250);
  expect(promises.filter(({ text }) => text === '').map(({ line }) => line)).toEqual([]);
  const areas = Map.groupBy(promises, ({ number }) => number.replace(/\d+/, ''));
  for (const members of areas.values()) {
    const numbers = members.map(({ number }) => Number(number.slice(1)));
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
  }
});

it('every promise is cited by the code or the test that keeps it', () => {
  const cited = new Set(citations(keeping).map(({ name }) => name));
  expect(promises.map(({ number }) => number).filter((number) => !cited.has(number))).toEqual([]);
});

it('every citation names a promise or an area that is there', () => {
  const known = new Set(promises.flatMap(({ number }) => [number, number.replace(/\d+/, '')]));
  expect(citations([...keeping, ...others]).filter(({ name }) => !known.has(name))).toEqual([]);
});

it('every section of a page that a comment names is there', () => {
  const dead = [...keeping, ...others].flatMap(({ place, text }) =>
    [...text.matchAll(SECTION)]
      .filter(([, page = '', section = '']) => !read(`docs/${page}`).includes(`\n## ${section}. `))
      .map(([name]) => `${place}: ${name}`),
  );
  expect(dead).toEqual([]);
});

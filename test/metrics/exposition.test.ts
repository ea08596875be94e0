import { expect, test } from 'vitest';
import { parseExposition } from './support/exposition.ts';

const GOOD = '# HELP a_total A.\n# TYPE a_total counter\na_total{b="c\\"d",e=""} 1\n';

test('the check of the format takes what Prometheus takes', () => {
  expect(parseExposition(GOOD).value('a_total', { b: 'c\\"d', e: '' })).toBe(1);
});

test.each([
  ['a last line without an end', GOOD.trimEnd()],
  ['a value that is no number', GOOD.replace(' 1\n', ' one\n')],
  ['labels out of form', GOOD.replace('e=""', 'e')],
  ['a series twice', `${GOOD}a_total{e="",b="c\\"d"} 2\n`],
  ['a family twice', GOOD + GOOD],
  ['a sample of another family', GOOD.replace('a_total{', 'b_total{')],
  ["a counter's name without its ending", GOOD.replaceAll('a_total', 'a')],
  ['a sample without TYPE', 'a_total 1\n'],
  ['a type without HELP', '# TYPE a gauge\na 1\n'],
  ['an unknown type', GOOD.replace('counter', 'number')],
  [
    'buckets that shrink',
    '# HELP h H.\n# TYPE h histogram\nh_bucket{le="1"} 2\nh_bucket{le="+Inf"} 1\nh_sum 1\nh_count 1\n',
  ],
  [
    'a histogram whose last bucket is not its count',
    '# HELP h H.\n# TYPE h histogram\nh_bucket{le="+Inf"} 1\nh_sum 1\nh_count 2\n',
  ],
])('the check of the format refuses %s', (_what, text) => {
  expect(() => parseExposition(text)).toThrow();
});

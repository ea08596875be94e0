import { expect, it } from 'vitest';
import { readExpression } from './support/promql.ts';

it('an expression is read: its metrics, their matchers, and the labels it groups by', () => {
  const { selectors, labels } = readExpression(
    'histogram_quantile(0.95, sum by (le, route) (rate(a_bucket{status=~"5..", job!="x"}[5m]))) > 2 * 86400\n' +
      'and on (job) max(b_total offset 5m) unless absent(up{job="y"} == 1)',
  );
  expect(selectors).toEqual([
    {
      name: 'a_bucket',
      matchers: [
        { label: 'status', operator: '=~', value: '5..' },
        { label: 'job', operator: '!=', value: 'x' },
      ],
    },
    { name: 'b_total', matchers: [] },
    { name: 'up', matchers: [{ label: 'job', operator: '=', value: 'y' }] },
  ]);
  expect(labels).toEqual(['le', 'route', 'job']);
  expect(() => readExpression('sum(a) @ "b')).toThrow('not understood');
});

import { expect, it } from 'vitest';
import { describeResult } from '../../src/cli/print.ts';

it('an result is read as names and values, nested ones by their path', () => {
  const result = { ok: true, roles: { owner: 'a', admin: null }, events: ['ping', 'pong'] };
  expect(describeResult(result, 80)).toBe(
    'ok           true\nroles.owner  a\nroles.admin  none\nevents       ping, pong',
  );
});

it('a list is a table, one after the other where that is too wide, and said to be empty', () => {
  const result = {
    open: 2,
    oldest: [
      { endpointId: 'first', due: 1 },
      { endpointId: 'second', due: 12 },
    ],
    longest: [],
  };
  expect(describeResult(result, 80)).toBe(
    'open  2\n\noldest:\nendpointId  due\nfirst       1\nsecond      12\n\nlongest: none',
  );
  expect(describeResult({ oldest: result.oldest }, 10)).toBe(
    'oldest, 1 of 2:\nendpointId  first\ndue         1\n\noldest, 2 of 2:\nendpointId  second\ndue         12',
  );
});

it('an object in a table is JSON, and no text reaches the terminal with control characters', () => {
  const entries = [{ label: 'a\u001b[2J\nb\u202e', details: { count: 1 } }];
  expect(describeResult({ entries }, 80)).toBe(
    'entries:\nlabel                    details\na\\u001b[2J\\u000ab\\u202e  {"count":1}',
  );
});

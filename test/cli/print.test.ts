import { expect, it } from 'vitest';
import { describeAnswer } from '../../src/cli/print.ts';

it('an answer is read as names and values, nested ones by their path', () => {
  const answer = { ok: true, roles: { owner: 'a', admin: null }, events: ['ping', 'pong'] };
  expect(describeAnswer(answer, 80)).toBe(
    'ok           true\nroles.owner  a\nroles.admin  none\nevents       ping, pong',
  );
});

it('a list is a table, one after the other where that is too wide, and said to be empty', () => {
  const answer = {
    open: 2,
    oldest: [
      { endpointId: 'first', due: 1 },
      { endpointId: 'second', due: 12 },
    ],
    longest: [],
  };
  expect(describeAnswer(answer, 80)).toBe(
    'open  2\n\noldest:\nendpointId  due\nfirst       1\nsecond      12\n\nlongest: none',
  );
  expect(describeAnswer({ oldest: answer.oldest }, 10)).toBe(
    'oldest, 1 of 2:\nendpointId  first\ndue         1\n\noldest, 2 of 2:\nendpointId  second\ndue         12',
  );
});

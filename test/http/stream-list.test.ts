import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { JsonStream, type ListPage, streamList } from '../../src/http/stream-list.ts';
import { onBehalfOf } from '../../src/threads/share.ts';

const PAGES = 5;

/** Reads a long list to its end; `reading` is called with 1 when a further page begins, with -1 when it ends. */
async function read(owner: string, reading: (by: number) => void): Promise<string> {
  const next = async (after: number): Promise<ListPage<number>> => {
    // The first is read at once, like any other response.
    const waits = after > 0;
    if (waits) reading(1);
    await sleep(5);
    if (waits) reading(-1);
    return { items: [String(after), '"é"'], last: after + 1 < PAGES ? after + 1 : null };
  };
  const { body } = await onBehalfOf(owner, () => streamList('items', 0, next));
  if (!(body instanceof JsonStream)) throw new Error('The list has one page.');
  return new Response(body.open(() => undefined)).text();
}

// contract.md A32
it('after their first pages, lists of a workspace are read a page at a time, beside those of another', async () => {
  const most = { a: 0, all: 0 };
  const now = { a: 0, all: 0 };
  const count = (by: number, isA: boolean): void => {
    now.all += by;
    if (isA) now.a += by;
    most.all = Math.max(most.all, now.all);
    most.a = Math.max(most.a, now.a);
  };
  const texts = await Promise.all([
    ...Array.from({ length: 10 }, () => read('a', (by) => count(by, true))),
    read('b', (by) => count(by, false)),
  ]);
  expect(new Set(texts)).toEqual(new Set(['{"items":[0,"é",1,"é",2,"é",3,"é",4,"é"]}']));
  expect(most).toEqual({ a: 1, all: 2 });
});

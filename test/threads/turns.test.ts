import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { areSmall, doTask, LOOP_PLACES } from '../../src/threads/pool.ts';
import { onBehalfOf } from '../../src/threads/share.ts';
import { createLoopTurns } from '../../src/threads/turns.ts';

/** An event loop whose clock is moved by its work, and whose rounds the test begins. */
function loop() {
  let now = 0;
  const rounds: (() => void)[] = [];
  const turns = createLoopTurns(
    () => now,
    (work) => void rounds.push(work),
  );
  const done: string[] = [];
  const work = async (owner: string, ms: number, waitMs = 10_000): Promise<void> => {
    await turns.take(owner, waitMs);
    done.push(owner);
    now += ms;
  };
  /** What is done until the loop would read from its connections. */
  const round = async (): Promise<string[]> => {
    for (const begin of rounds.splice(0)) begin();
    await sleep(0);
    return done.splice(0);
  };
  const wait = (ms: number): void => {
    now += ms;
  };
  const light = async (owner: string): Promise<void> => {
    await turns.takeLight(owner, 10_000);
    done.push(owner);
  };
  return { work, light, round, wait };
}

// contract.md A32
it('long work is done piece by piece between rounds of the event loop, and workspaces take turns', async () => {
  const { work, round } = loop();
  const all = Array.from({ length: 5 }, () => work('a', 6));
  expect(await round()).toEqual(['a']);
  expect(await round()).toEqual(['a']);
  all.push(work('b', 6), work('c', 6));
  expect([await round(), await round(), await round()]).toEqual([['a'], ['b'], ['c']]);
  expect([await round(), await round()]).toEqual([['a'], ['a']]);
  await Promise.all(all);
  all.push(work('b', 6));
  expect(await round()).toEqual(['b']);
});

it('short work is done together, and that of another workspace is not behind all of it', async () => {
  const { work, round } = loop();
  const all = Array.from({ length: 50 }, () => work('a', 0.125));
  expect(await round()).toEqual(Array(16).fill('a'));
  all.push(work('b', 0.125));
  expect((await round()).indexOf('b')).toBeLessThanOrEqual(1);
  expect(await round()).toHaveLength(16);
  expect(await round()).toHaveLength(3);
  await Promise.all(all);
});

// contract.md A32
it('the first light request of a workspace in a round waits for no long work, its next ones take turns', async () => {
  const { work, light, round } = loop();
  const all = Array.from({ length: 4 }, () => work('a', 6));
  expect(await round()).toEqual(['a']);
  all.push(light('b'), light('b'), light('a'));
  expect(await round()).toEqual(['b', 'a']);
  expect(await round()).toEqual(['b', 'a']);
  all.push(light('c'));
  expect(await round()).toEqual(['c', 'a']);
  await round();
  await Promise.all(all);
});

it('work that waited too long is refused when its turn comes', async () => {
  const { work, round, wait } = loop();
  const first = work('a', 5);
  const late = work('a', 5, 1_000).catch((error: { code: string }) => error.code);
  expect(await round()).toEqual(['a']);
  wait(1_000);
  expect(await round()).toEqual([]);
  expect(await late).toBe('SERVICE_UNAVAILABLE');
  await first;
});

// contract.md A32
it('a small document of one workspace is not behind two hundred of another', async () => {
  const items = Array(LOOP_PLACES / 5).fill('*x*');
  const block = { id: 'b', type: 'list', ordered: false, items, format: 'markdown' };
  const document = JSON.stringify({ version: 1, blocks: [block] });
  expect(areSmall([document])).toBe(true);
  const finished: string[] = [];
  const checked = async (owner: string): Promise<void> => {
    await onBehalfOf(owner, () => doTask('check', document));
    finished.push(owner);
  };
  const crowd = Array.from({ length: 200 }, () => checked('crowd'));
  await Promise.all([checked('other'), ...crowd]);
  expect(finished).toHaveLength(201);
  expect(finished.indexOf('other')).toBeLessThan(5);
});

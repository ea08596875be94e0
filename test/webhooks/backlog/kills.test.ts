import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { useBacklogs } from './support.ts';

const backlogs = useBacklogs();

const start = (): ChildProcess =>
  spawn(process.execPath, [path.join(import.meta.dirname, 'keeper.ts')], {
    env: { ...process.env, DATABASE_URL: backlogs.database.it.url },
    stdio: 'ignore',
  });
const kill = async (process: ChildProcess) => {
  const ended = once(process, 'exit');
  process.kill('SIGKILL');
  await ended;
};

// contract.md W101
it('each event is queued once, beside writers, rollbacks and workers of which one is killed again and again', async () => {
  let isOver = false;
  let isBusy = true;
  let stored = 0;
  const write = async (writer: number) => {
    for (let round = 0; !isOver; round += 1) {
      const end = await backlogs.storeLate();
      await sleep(isBusy ? (writer * round) % 7 : 60);
      const isKept = (writer + round) % 5 !== 0;
      await end(isKept ? 'commit' : 'rollback');
      if (isKept) stored += 1;
    }
  };
  const writing = [1, 2, 3, 4].map(write);
  const seen = new Set<string>();
  const receiving = (async () => {
    // Takes nothing until the endpoint is behind, then more than it gets until it is not.
    for (let takes = false; !isOver; await sleep(20)) {
      const state = await backlogs.isBehind();
      seen.add(state);
      takes = state === 'behind' || (takes && state === 'closing');
      if (takes) await backlogs.deliver(40);
    }
  })();
  const stays = start();
  for (let killed = 0; killed < 5 || seen.size < 3; killed += 1) {
    const one = start();
    await sleep(600);
    // Fewer than are queued from the log, whatever the machine's speed: marks come and go.
    isBusy = false;
    await sleep(1_500);
    isBusy = true;
    await kill(one);
  }
  isOver = true;
  await Promise.all([...writing, receiving]);
  await kill(stays);
  await backlogs.number();
  if ((await backlogs.isBehind()) !== 'no') await backlogs.catchUp();
  expect([...seen].sort()).toEqual(['behind', 'closing', 'no']);
  const counts = await backlogs.deliveries();
  expect([counts.length, counts.filter((count) => count !== 1).length]).toEqual([stored, 0]);
}, 300_000);

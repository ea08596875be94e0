import { writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tryLock, waitForLock } from '../../src/local/lock.ts';
import { killHard, runScript, temporaryFolder } from './helpers.ts';

test('a lock left by a dead process is taken over by exactly one of many', { timeout: 30_000 }, async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'lock');
  for (let round = 0; round < 2; round += 1) {
    const at = String(Date.now() + 800);
    const takers = Array.from({ length: 6 }, () => runScript('lock-holder.ts', path, at));
    const outcomes = await Promise.all(takers.map((taker) => taker.firstLine));
    expect(outcomes.sort()).toEqual(['lost', 'lost', 'lost', 'lost', 'lost', 'won']);
    await Promise.all(takers.map(killHard));
  }
  expect(await readdir(folder)).toEqual(['lock']);
});

test('a held lock names its holder, and is free again once released', async () => {
  const path = join(temporaryFolder(), 'lock');
  const first = tryLock(path, 'stack');
  if ('heldBy' in first) throw new Error('nobody else is here');
  expect(tryLock(path, 'command')).toMatchObject({ heldBy: { pid: process.pid, purpose: 'stack' } });
  const waiting = waitForLock(path, 'command', { timeoutMs: 5_000 });
  first.lock.release();
  expect(await waiting).toHaveProperty('lock');
  first.lock.release();
  expect(tryLock(path, 'stack')).toMatchObject({ heldBy: { purpose: 'command' } });
});

test('a lock file emptied by a power failure counts as left behind', () => {
  const path = join(temporaryFolder(), 'lock');
  writeFileSync(path, '');
  expect(tryLock(path, 'stack')).toHaveProperty('lock');
});

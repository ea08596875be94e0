import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { createBackupMetrics } from '../../src/metrics/backup.ts';
import { createPruneMetrics } from '../../src/metrics/prune.ts';
import { parseExposition } from './support/exposition.ts';

it('the time of the last backup is that of its stamp, and 0 before the first', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'wcs-backup-'));
  const registry = new Registry();
  createBackupMetrics(registry, folder);
  const read = async () =>
    parseExposition(await registry.metrics()).value('backup_last_success_timestamp_seconds');
  expect(await read()).toBe(0);
  writeFileSync(join(folder, 'last-backup'), '');
  utimesSync(join(folder, 'last-backup'), 1_790_000_000, 1_790_000_000);
  expect(await read()).toBe(1_790_000_000);
  rmSync(folder, { recursive: true });
});

it('tries of the steps of prune are counted by how they end, and each has a series from the start', async () => {
  const registry = new Registry();
  const countPrune = createPruneMetrics(registry);
  await expect(countPrune('images', Promise.reject(new Error('no disk')))).rejects.toThrow('no disk');
  expect(await countPrune('images', Promise.resolve(3))).toBe(3);
  const found = parseExposition(await registry.metrics());
  const value = (step: string, outcome: string) => found.value('prune_steps_total', { step, outcome });
  expect([value('images', 'done'), value('images', 'failed')]).toEqual([1, 1]);
  expect([value('events', 'done'), value('events', 'failed')]).toEqual([0, 0]);
});

import { expect, inject, test } from 'vitest';
import { checkDatabase } from '../../src/local/postgres.ts';

/** Longer than a login may take. */
const BUSY_MS = 5_500;

test('a start that loads its modules while Postgres responds to its login uses that Postgres all the same', async () => {
  const checked = checkDatabase(inject('serverUrl'));
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY_MS);
  await expect(checked).resolves.toBeUndefined();
});

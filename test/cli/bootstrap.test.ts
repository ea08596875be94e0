import { expect, it } from 'vitest';
import { bootstrapWorkspace } from '../../src/workspaces/bootstrap.ts';
import { createTestDatabase } from '../support/database.ts';

it('makes one default workspace with one owner key, however many processes start at once', async () => {
  const { db, drop } = await createTestDatabase();
  try {
    const results = await Promise.all(Array.from({ length: 8 }, () => bootstrapWorkspace(db)));
    const made = results.filter((result) => result !== null);
    expect(made).toHaveLength(1);
    expect(await bootstrapWorkspace(db)).toBeNull();
    expect(await db.selectFrom('workspaces').select(['id', 'name']).execute()).toEqual([
      { id: made[0]?.workspaceId, name: 'Default' },
    ]);
    expect(await db.selectFrom('api_keys').select('role_id').execute()).toEqual([
      { role_id: made[0]?.roles.owner },
    ]);
  } finally {
    await drop();
  }
});

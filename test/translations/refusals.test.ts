import { describe, expect, it } from 'vitest';
import { readTextBytes } from '../../src/db/quotas.ts';
import { newId } from '../../src/ids.ts';
import { createArticle, longDocument } from '../support/articles.ts';
import { type Answer, useTestService } from '../support/service.ts';
import { creating } from './support/creating.ts';

const service = useTestService();
const { create, wallet } = creating(service);

/** Rows of every table a creation writes to. */
async function countRows(): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of [
    'articles',
    'jobs',
    'translations',
    'holds',
    'ledger_entries',
    'events',
    'audit_entries',
  ] as const) {
    const { n } = await service.db
      .selectFrom(table)
      .select((eb) => eb.fn.countAll<number>().as('n'))
      .executeTakeFirstOrThrow();
    counts[table] = Number(n);
  }
  return counts;
}

/** Expects a refusal with the status and code that changed not a single row. */
async function expectRefusal(act: () => Promise<Answer>, status: number, code: string): Promise<Answer> {
  const before = await countRows();
  const response = await act();
  expect(response.body).toMatchObject({ status, code });
  expect(response.status).toBe(status);
  expect(await countRows()).toEqual(before);
  return response;
}

describe('a refused translation leaves nothing behind', () => {
  // contract.md T5
  it('400 for bad bodies, tags that are no tags, and keys of the wrong length, naming the field', async () => {
    const workspace = await service.workspace();
    const source = await createArticle(service.db, workspace, await service.project(workspace));
    const cases: [unknown, string][] = [
      [{}, '/language'],
      [{ language: 5 }, '/language'],
      [{ language: 'pt_BR' }, '/language'],
      [{ language: '' }, '/language'],
      [{ language: 'en' }, '/language'],
      [{ language: 'fr' }, '/language'],
      [{ language: 'es', idempotencyKey: 'short' }, '/idempotencyKey'],
      [{ language: 'es', idempotencyKey: 'x'.repeat(201) }, '/idempotencyKey'],
    ];
    for (const [body, pointer] of cases) {
      const response = await expectRefusal(() => create(workspace, source.id, body), 400, 'INVALID_REQUEST');
      expect(response.body.errors).toEqual([expect.objectContaining({ pointer })]);
    }
    const header = await expectRefusal(
      () => create(workspace, source.id, { language: 'es' }, { 'idempotency-key': 'short' }),
      400,
      'INVALID_REQUEST',
    );
    expect(header.body.errors[0].pointer).toBe('header/Idempotency-Key');
  });

  // contract.md T6
  it('400 for a source without content', async () => {
    const workspace = await service.workspace();
    const source = await createArticle(service.db, workspace, await service.project(workspace), {
      document: { version: 1, blocks: [] },
    });
    await expectRefusal(() => create(workspace, source.id, { language: 'es' }), 400, 'INVALID_REQUEST');
  });

  // contract.md T20
  it('400 for a stored body that breaks a rule of the format of today, and nothing is held for it', async () => {
    const workspace = await service.workspace();
    const items = Array.from({ length: 2_001 }, (_, index) => `word ${index}`);
    const source = await createArticle(service.db, workspace, await service.project(workspace), {
      document: { version: 1, blocks: [{ id: 'l', type: 'list', ordered: false, items }] },
    });
    const refused = await expectRefusal(
      () => create(workspace, source.id, { language: 'es' }),
      400,
      'INVALID_REQUEST',
    );
    expect(JSON.stringify(refused)).toContain('/blocks/0/items');
  });

  it('401 without a key, 403 for a role that lacks a permission, 404 for unknown, malformed and foreign articles', async () => {
    const workspace = await service.workspace();
    const stranger = await service.workspace();
    const source = await createArticle(service.db, workspace, await service.project(workspace));
    const path = `/api/articles/${source.id}/translations`;
    await expectRefusal(() => service.call(null, 'POST', path, { language: 'es' }), 401, 'UNAUTHENTICATED');
    for (const id of [newId(), 'nonsense', source.id]) {
      const as = id === source.id ? stranger : workspace;
      await expectRefusal(() => create(as, id, { language: 'es' }), 404, 'RESOURCE_NOT_FOUND');
    }
    const role = await service.db
      .updateTable('roles')
      .set({ permissions: ['articles.read', 'articles.create'], built_in: false })
      .where('id', '=', workspace.roles.owner)
      .execute();
    expect(role).toHaveLength(1);
    const response = await expectRefusal(() => create(workspace, source.id, {}), 403, 'FORBIDDEN');
    expect(response.body.details.permissions).toEqual(['articles.generate']);
  });

  // contract.md T7
  it('402 when the wallet does not cover it', async () => {
    const workspace = await service.workspace(1);
    const source = await createArticle(service.db, workspace, await service.project(workspace), {
      document: longDocument(1500),
    });
    await expectRefusal(() => create(workspace, source.id, { language: 'es' }), 402, 'INSUFFICIENT_CREDITS');
    expect(await wallet(workspace)).toEqual({ balance: 1, reserved: 0 });
  });

  // contract.md T8
  it('409 while the group has a version in the language: queued, finished, or an empty draft made by hand', async () => {
    const workspace = await service.workspace();
    const projectId = await service.project(workspace);
    const source = await createArticle(service.db, workspace, projectId);
    expect((await create(workspace, source.id, { language: 'es' })).status).toBe(202);
    await expectRefusal(() => create(workspace, source.id, { language: 'es' }), 409, 'CONFLICT');

    const sibling = await createArticle(service.db, workspace, projectId, {
      language: 'de',
      title: 'By hand',
      document: { version: 1, blocks: [] },
    });
    await service.db
      .updateTable('articles')
      .set({ translation_group_id: source.translation_group_id })
      .where('id', '=', sibling.id)
      .execute();
    await expectRefusal(() => create(workspace, source.id, { language: 'de' }), 409, 'CONFLICT');
  });

  // contract.md T9
  it('409 while a generation runs on the source, which has no content as long as it does', async () => {
    const workspace = await service.workspace();
    const source = await createArticle(service.db, workspace, await service.project(workspace), {
      document: { version: 1, blocks: [] },
    });
    await service.db
      .insertInto('jobs')
      .values({
        id: newId<never>(),
        workspace_id: workspace.id,
        project_id: source.project_id,
        article_id: source.id,
        kind: 'generation',
        purpose: 'generate',
        status: 'WRITING',
        current_step: 'write',
        idempotency_key: 'generation-1',
        estimated_credits: 5,
        reserved_credits: 5,
        workflow_id: 'generation',
      })
      .execute();
    await expectRefusal(() => create(workspace, source.id, { language: 'es' }), 409, 'CONFLICT');
  });

  // contract.md T10
  it('429 when the copied images would exceed the storage quota, but 402 first', async () => {
    const workspace = await service.workspace(1);
    const source = await createArticle(service.db, workspace, await service.project(workspace));
    await service.db
      .insertInto('assets')
      .values({
        id: newId<never>(),
        workspace_id: workspace.id,
        article_id: source.id,
        role: 'inline',
        content_hash: 'a'.repeat(64),
        media_type: 'image/png',
        byte_size: 600,
        file_name: 'a.png',
      })
      .execute();
    const texts = await readTextBytes(service.db, workspace.id);
    const quota = (bytes: number) =>
      service.db
        .updateTable('workspaces')
        .set({ storage_bytes_limit: texts + bytes, storage_bytes_used: 600 })
        .where('id', '=', workspace.id)
        .execute();
    await quota(1199);
    await expectRefusal(() => create(workspace, source.id, { language: 'es' }), 429, 'QUOTA_EXCEEDED');
    expect(await wallet(workspace)).toEqual({ balance: 1, reserved: 0 });
    await service.db
      .updateTable('wallets')
      .set({ balance: 0 })
      .where('workspace_id', '=', workspace.id)
      .execute();
    await expectRefusal(() => create(workspace, source.id, { language: 'es' }), 402, 'INSUFFICIENT_CREDITS');
    await service.db
      .updateTable('wallets')
      .set({ balance: 1 })
      .where('workspace_id', '=', workspace.id)
      .execute();
    // The empty draft counts, too.
    await quota(1250);
    expect((await create(workspace, source.id, { language: 'es' })).status).toBe(202);
    const { storage_bytes_used } = await service.db
      .selectFrom('workspaces')
      .select('storage_bytes_used')
      .where('id', '=', workspace.id)
      .executeTakeFirstOrThrow();
    expect(storage_bytes_used).toBe(1200);
  });
});

import { sql } from 'kysely';
import { beforeAll, expect, it } from 'vitest';
import { pruneOperations } from '../../src/suggestions/prune.ts';
import { categoryCalls } from '../categories/support.ts';
import { createArticle } from '../support/articles.ts';
import { useTestService } from '../support/service.ts';
import { createStandIn, suggesting } from './support.ts';

const service = useTestService();

const DAY_MS = 86_400_000;
const retentionMs = 7 * DAY_MS;

let calls: ReturnType<typeof suggesting>;

beforeAll(async () => {
  calls = suggesting(service);
  await service.startWorker({ suggestions: createStandIn() });
});

it('prunes AI operations that ended before the retention, and changes no quota, no ledger and no wallet', async () => {
  const workspace = await service.workspace(10);
  await categoryCalls(service).category(workspace, { en: 'Garden' });
  const article = await createArticle(service.db, workspace, await service.project(workspace));
  for (let count = 0; count < 3; count += 1) {
    expect((await calls.forArticle(workspace, article.id)).body.credits).toBe(1);
  }
  const [old, recent, stranded] = await calls.operations(workspace);
  const age = (id: string | undefined, days: number) =>
    sql`UPDATE ai_operations SET created_at = created_at - make_interval(days => ${days}),
      ended_at = ended_at - make_interval(days => ${days}) WHERE id = ${id}`.execute(service.db);
  await age(old?.id, 8);
  await age(recent?.id, 6);
  await age(stranded?.id, 8);
  // An ended one whose hold is open, as a hand in the database might leave it: reconcile has it first.
  await sql`UPDATE holds SET status = 'open', settled_amount = NULL, ended_at = NULL
    WHERE run_id = ${stranded?.id}`.execute(service.db);
  // More of them than one batch takes, and old ones that are open.
  const store = (count: number, status: 'failed' | 'open') =>
    sql`INSERT INTO ai_operations
        (id, workspace_id, kind, target_id, credits, status, quota_month, workflow_id, created_at, ended_at)
      SELECT gen_random_uuid(), ${workspace.id}, 'article_categories', ${article.id}, 1, ${status}, '2026-01', 'none',
        now() - interval '30 days', CASE ${status} WHEN 'open' THEN NULL ELSE now() - interval '30 days' END
      FROM generate_series(1, ${count}::integer)`.execute(service.db);
  await store(2_500, 'failed');
  await store(5, 'open');

  const state = async () => ({
    wallet: await calls.wallet(workspace),
    ledger: await calls.ledger(workspace),
    used: await calls.used(workspace),
    holds: await service.db.selectFrom('holds').selectAll().orderBy('id').execute(),
  });
  const before = await state();
  let batches = 0;
  const onProgress = () => {
    batches += 1;
  };
  expect(await pruneOperations(service.db, { retentionMs, onProgress })).toBe(2_501);
  expect(batches).toBe(3);
  expect(await pruneOperations(service.db, { retentionMs })).toBe(0);
  expect(await state()).toEqual(before);
  const kept = await service.db.selectFrom('ai_operations').select(['id', 'status']).execute();
  expect(kept.filter(({ status }) => status === 'open')).toHaveLength(5);
  expect(new Set(kept.filter(({ status }) => status !== 'open').map(({ id }) => id))).toEqual(
    new Set([recent?.id, stranded?.id]),
  );

  // The month still counts what was pruned.
  await calls.setLimit(workspace, 3);
  const answer = await calls.forArticle(workspace, article.id);
  expect([answer.status, answer.body.code]).toEqual([429, 'QUOTA_EXCEEDED']);
});

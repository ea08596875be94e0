import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { ArticleId } from '../../src/ids.ts';
import { documentOf, paragraph } from '../articles/support.ts';
import type { Answer } from '../support/service.ts';
import { untilWaiting, whileLocked } from '../translations/support/locks.ts';
import { settings, useAdmission } from './support/admission.ts';

const { service, calls, workspace, project, editor, outlined } = useAdmission();

/** A draft with an outline that a person has read. */
interface Draft {
  readonly id: string;
  readonly etag: string;
  /** Of the job that is open on it, where there is one. */
  readonly jobId: string;
}

async function draft(): Promise<Draft> {
  const { article, etag } = await outlined();
  return { id: article.id, etag, jobId: '' };
}

const content = documentOf(paragraph('Written by hand.'));
const ACTIONS = {
  approve: ({ id, etag }: Draft) => calls.approve(workspace, id, etag),
  generate: ({ id }: Draft) =>
    calls.draft(workspace, id, { ...settings({ topic: 'Dogs' }), replaceOutline: true }),
  'edit the outline': async ({ id, etag }: Draft) => {
    const { outline } = await calls.outline(workspace, id);
    return calls.saveOutline(workspace, id, { ...outline, title: 'Edited' }, etag);
  },
  write: ({ id }: Draft) => editor.patch(id, { documentJson: content }),
  rename: ({ id }: Draft) => editor.patch(id, { title: 'Renamed' }),
  delete: ({ id }: Draft) => editor.remove(id),
  'delete the project': () => service.call(workspace.key, 'DELETE', `/api/projects/${project.id}`),
  cancel: ({ jobId }: Draft) => calls.cancel(workspace, jobId),
} as const;
type Action = keyof typeof ACTIONS;

/** Whatever came of it: what is open, held and written agrees. */
async function expectSound({ id }: Draft): Promise<void> {
  const open = await service.db
    .selectFrom('jobs')
    .select('reserved_credits')
    .where('workspace_id', '=', workspace.id)
    .where('ended_at', 'is', null)
    .execute();
  const held = open.reduce((sum, job) => sum + job.reserved_credits, 0);
  expect(await calls.readWallet(workspace)).toEqual({ balance: 10, reserved: held, available: 10 - held });
  const article = await service.db
    .selectFrom('articles')
    .select(['status', 'document'])
    .where('id', '=', id as ArticleId)
    .executeTakeFirst();
  expect(open.length).toBeLessThanOrEqual(article === undefined ? 0 : 1);
  if (article === undefined) return;
  expect(article.status).toBe(open.length === 1 ? 'QUEUED' : 'DRAFT');
  if (article.document.blocks.length > 0) expect(open).toEqual([]);
}

/** Both wait for the article at once, in this order; the deletion of a project waits for no article. */
async function atOnce(one: Action, other: Action, on: Draft): Promise<[Answer, Answer]> {
  const under: Promise<Answer>[] = [];
  await whileLocked(service.db, on.id, async () => {
    let waiting = 0;
    for (const action of [one, other]) {
      const pending = ACTIONS[action](on);
      under.push(pending);
      if (action === 'delete the project') await pending;
      else {
        waiting += 1;
        await untilWaiting(service.db, waiting);
      }
    }
  });
  const [first, second] = await Promise.all(under);
  if (first === undefined || second === undefined) throw new Error('two were asked');
  return [first, second];
}

const pairs = (actions: readonly Action[]) =>
  actions.flatMap((one) => actions.map((other): [Action, Action] => [one, other]));

// contract.md R5
it('the updatedAt of an article that is queued right after a save is the later one', async () => {
  const on = await draft();
  let approving: Promise<Answer> | undefined;
  const saved = await service.db.transaction().execute(async (tx) => {
    const article = tx.updateTable('articles').where('id', '=', on.id as ArticleId);
    await article.set({ meta_title: 'Saved' }).execute();
    approving = ACTIONS.approve(on);
    await untilWaiting(service.db, 1);
    const { updated_at } = await article
      .set({ updated_at: sql<Date>`clock_timestamp()` })
      .returning('updated_at')
      .executeTakeFirstOrThrow();
    return updated_at.toISOString();
  });
  const queued = (await approving)?.body.article.updatedAt;
  expect(queued >= saved, `${queued} after ${saved}`).toBe(true);
});

describe('of two who come at once, the one who is first wins, and nothing is left in between', () => {
  const ours = ['approve', 'generate', 'edit the outline'] as const;
  // What is in a deleted project is not found at once: nothing waits behind it.
  const onDraft = pairs([...ours, 'write', 'delete', 'delete the project']).filter(
    ([one]) => one !== 'delete the project',
  );

  // contract.md G6
  it.each(onDraft.filter((pair) => ours.some((action) => pair.includes(action))))(
    'on a draft with an outline: %s, %s',
    async (one, other) => {
      const on = await draft();
      const both = await atOnce(one, other, on);
      const [first, second] = other === 'delete the project' ? both.toReversed() : both;
      if (first === undefined || second === undefined) throw new Error('two were asked');
      expect(first.status, JSON.stringify(first.body)).toBeLessThan(300);
      expect([200, 202, 404, 409, 412]).toContain(second.status);
      await expectSound(on);
    },
  );

  const onQueued = pairs(['cancel', 'approve', 'rename', 'delete', 'delete the project']);

  it.each(onQueued.filter((pair) => pair.includes('cancel')))(
    'on one that is queued: %s, %s',
    async (one, other) => {
      const on = await draft();
      const { job } = (await ACTIONS.approve(on)).body;
      const [first, second] = await atOnce(one, other, { ...on, jobId: job.id });
      const [cancelled, others] = one === 'cancel' ? [first, second] : [second, first];
      expect(cancelled.status).toBe(202);
      expect(one === 'cancel' ? [200, 202, 409] : [409]).toContain(others.status);
      await expectSound(on);
    },
  );
});

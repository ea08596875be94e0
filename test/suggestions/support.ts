import { expect } from 'vitest';
import { newId } from '../../src/ids.ts';
import type { ChatResponse } from '../../src/providers/chat-model.ts';
import { reserveOperation } from '../../src/suggestions/operations.ts';
import type { SuggestionProvider, SuggestionRequest } from '../../src/suggestions/provider.ts';
import { createPseudoSuggestions } from '../../src/suggestions/pseudo.ts';
import { categoryCalls } from '../categories/support.ts';
import { createArticle } from '../support/articles.ts';
import { storedWallet } from '../support/credits.ts';
import type { Answer, TestService, TestWorkspace } from '../support/service.ts';

/** A stand-in for a model: answers as the test says, like the pseudo provider until it says something. */
export interface StandIn extends SuggestionProvider {
  readonly asked: SuggestionRequest[];
  /** The object of the answer; null for an answer without one. */
  reply: (request: SuggestionRequest) => Promise<unknown>;
  reset(): void;
}

export function createStandIn(): StandIn {
  const pseudo = createPseudoSuggestions();
  const pseudoObject = async (request: SuggestionRequest) => (await pseudo.suggest(request)).object;
  const asked: SuggestionRequest[] = [];
  const standIn: StandIn = {
    name: 'stand-in',
    asked,
    reply: (request) => pseudoObject(request),
    async suggest(request) {
      asked.push(request);
      return { object: (await standIn.reply(request)) as ChatResponse['object'], truncated: false };
    },
    reset() {
      asked.length = 0;
      standIn.reply = (request) => pseudoObject(request);
    },
  };
  return standIn;
}

/** The paid calls of a client, and what they leave in the database. */
export const suggesting = (service: TestService) => ({
  forArticle: (workspace: TestWorkspace, articleId: string): Promise<Answer> =>
    service.call(workspace.key, 'POST', `/api/articles/${articleId}/categories/suggest`),
  forProject: (workspace: TestWorkspace, projectId: string): Promise<Answer> =>
    service.call(workspace.key, 'POST', `/api/projects/${projectId}/categories/suggest`),
  names: (workspace: TestWorkspace, categoryId: string, languages: unknown): Promise<Answer> =>
    service.call(
      workspace.key,
      'POST',
      `/api/workspaces/${workspace.id}/categories/${categoryId}/translate`,
      { languages },
    ),
  wallet: ({ id }: TestWorkspace) => storedWallet(service.db, id),
  /** The sum of the ledger, which has to be the balance. */
  ledger: async (workspace: TestWorkspace): Promise<number> => {
    const { sum } = await service.db
      .selectFrom('ledger_entries')
      .select((eb) => eb.fn.sum<string>('amount').as('sum'))
      .where('workspace_id', '=', workspace.id)
      .executeTakeFirstOrThrow();
    return Number(sum);
  },
  /** Operations counted this month. */
  used: async (workspace: TestWorkspace): Promise<number> =>
    (
      await service.db
        .selectFrom('ai_operation_usage')
        .select('used')
        .where('workspace_id', '=', workspace.id)
        .executeTakeFirst()
    )?.used ?? 0,
  operations: (workspace: TestWorkspace) =>
    service.db
      .selectFrom('ai_operations')
      .innerJoin('holds', 'holds.run_id', 'ai_operations.id')
      .select([
        'ai_operations.id',
        'ai_operations.status',
        'holds.status as hold',
        'ai_operations.workflow_id',
      ])
      .select(['ai_operations.result', 'ai_operations.asked_at'])
      .where('ai_operations.workspace_id', '=', workspace.id)
      .orderBy('ai_operations.created_at')
      .execute(),
  setLimit: (workspace: TestWorkspace, limit: number) =>
    service.db
      .updateTable('workspaces')
      .set({ ai_operations_limit: limit })
      .where('id', '=', workspace.id)
      .execute(),
  addIdea: (workspace: TestWorkspace, projectId: string, title: string, keywords: string[] = []) =>
    service.db
      .insertInto('idea_clusters')
      .values({
        id: newId(),
        workspace_id: workspace.id,
        project_id: projectId as never,
        title,
        keywords,
      })
      .execute(),
});

export type OneOperation = Awaited<ReturnType<typeof oneOperation>>;

/** A workspace with 10 credits, a category and an article, and what a file about the one operation on it asks. */
export async function oneOperation(service: TestService) {
  const calls = suggesting(service);
  const workspace = await service.workspace(10);
  await categoryCalls(service).category(workspace, { en: 'Garden' });
  const { id } = await createArticle(service.db, workspace, await service.project(workspace));
  return {
    workspace,
    articleId: id,
    ask: () => calls.forArticle(workspace, id),
    async operation() {
      const [operation] = await calls.operations(workspace);
      if (operation === undefined) throw new Error('there is no operation');
      return operation;
    },
    wallet: () => calls.wallet(workspace),
    ledger: () => calls.ledger(workspace),
    used: () => calls.used(workspace),
    async expectReleased(): Promise<void> {
      expect(await calls.wallet(workspace)).toEqual({ balance: 10, reserved: 0 });
      expect(await calls.operations(workspace)).toMatchObject([{ status: 'failed', hold: 'released' }]);
    },
    /** What a server leaves that dies right after its transaction. */
    reserve: () =>
      service.db.transaction().execute((tx) =>
        reserveOperation(tx, workspace.context, {
          kind: 'article_categories',
          targetId: id,
          credits: 1,
          audit: { action: 'categories.suggested', targetType: 'article' },
        }),
      ),
  };
}

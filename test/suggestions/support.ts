import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { newId } from '../../src/ids.ts';
import type { SuggestionProvider, SuggestionRequest } from '../../src/suggestions/provider.ts';
import { createPseudoSuggestions } from '../../src/suggestions/pseudo.ts';
import type { Answer, TestService, TestWorkspace } from '../support/service.ts';

/** A stand-in for a model: answers as the test says, like the pseudo provider until it says something. */
export interface StandIn extends SuggestionProvider {
  readonly asked: SuggestionRequest[];
  reply: (request: SuggestionRequest) => Promise<unknown>;
  reset(): void;
}

export function createStandIn(): StandIn {
  const pseudo = createPseudoSuggestions();
  const asked: SuggestionRequest[] = [];
  const standIn: StandIn = {
    name: 'stand-in',
    asked,
    reply: (request) => pseudo.answer(request),
    async answer(request) {
      asked.push(request);
      return standIn.reply(request);
    },
    reset() {
      asked.length = 0;
      standIn.reply = (request) => pseudo.answer(request);
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
  wallet: (workspace: TestWorkspace) =>
    service.db
      .selectFrom('wallets')
      .select(['balance', 'reserved'])
      .where('workspace_id', '=', workspace.id)
      .executeTakeFirstOrThrow(),
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

export interface ModelCall {
  readonly headers: IncomingMessage['headers'];
  // biome-ignore lint/suspicious/noExplicitAny: tests look into requests of every shape
  readonly body: any;
}

export interface ModelServer {
  /** For AI_BASE_URL. */
  readonly url: string;
  readonly calls: ModelCall[];
  /** Answers the next calls. */
  answer: (call: ModelCall, response: ServerResponse) => void | Promise<void>;
  close(): Promise<void>;
}

/** A chat completion as OpenAI's API words it. */
export function completion(content: string | null, finishReason = 'stop', refusal: string | null = null) {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_790_000_000,
    model: 'test-model',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content, refusal },
        logprobs: null,
        finish_reason: finishReason,
      },
    ],
    usage: { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 },
  };
}

export function sendJson(response: ServerResponse, status: number, body: unknown, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

/** A local server that speaks the chat completions protocol on a real socket. */
export async function startModelServer(): Promise<ModelServer> {
  const calls: ModelCall[] = [];
  const model = { calls, answer: (_call, response) => sendJson(response, 500, {}) } as ModelServer;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (request.method !== 'POST' || request.url !== '/v1/chat/completions') {
        return sendJson(response, 404, { error: { message: 'no such path' } });
      }
      const call = { headers: request.headers, body: JSON.parse(Buffer.concat(chunks).toString()) };
      calls.push(call);
      return model.answer(call, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(model, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

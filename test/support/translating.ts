import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import type { Article } from '../../src/articles/schemas.ts';
import type { DocumentJson } from '../../src/document/format/schema.ts';
import { mapTexts } from '../../src/document/format/walk.ts';
import type { Job } from '../../src/jobs/schemas.ts';
import type { RunningWorker } from '../../src/processes/worker.ts';
import { createPseudoProvider } from '../../src/providers/pseudo.ts';
import type { TranslationProvider, TranslationRequest } from '../../src/providers/types.ts';
import { createArticle, longDocument } from './articles.ts';
import type { EngineServer } from './engine-server.ts';
import { type JobOptions, untilEnded, useJobs } from './jobs.ts';
import { madeLater, type TestService, type TestWorkspace, useTestService } from './service.ts';

/** A stand-in for a model: does what the test says, then answers like the pseudo provider. */
export interface StandIn extends TranslationProvider {
  behave: (signal: AbortSignal, request: TranslationRequest) => Promise<void>;
  /** Answers instead of the pseudo provider, when given. */
  answer?: ((request: TranslationRequest) => Map<string, string>) | undefined;
}

export function createStandIn(): StandIn {
  const pseudo = createPseudoProvider();
  const standIn: StandIn = {
    name: 'stand-in',
    behave: async () => undefined,
    async translate(request) {
      await standIn.behave(request.signal, request);
      return standIn.answer?.(request) ?? pseudo.translate(request);
    },
  };
  return standIn;
}

/** Whether it is the first request of a run: its title, meta texts and keywords, which those of the body wait for. */
export const isFirst = ({ segments }: TranslationRequest): boolean =>
  segments.some(({ id }) => id === 'title');

/** Behaves so for requests of the body; the first one of a run is translated. */
export const forBody =
  (behave: StandIn['behave']): StandIn['behave'] =>
  async (signal, request) => {
    if (!isFirst(request)) await behave(signal, request);
  };

/** Hangs until the call is given up. */
export const hang = (signal: AbortSignal): Promise<never> =>
  new Promise<never>((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });

/** The calls a client makes around a translation. */
export const translating = (service: TestService) => {
  const calls = {
    readJob: async (workspace: TestWorkspace, id: string): Promise<Job> =>
      (await service.call(workspace.key, 'GET', `/api/jobs/${id}`)).body.job,
    readArticle: async (workspace: TestWorkspace, id: string): Promise<Article> =>
      (await service.call(workspace.key, 'GET', `/api/articles/${id}`)).body.article,
    readWallet: async (workspace: TestWorkspace) =>
      (await service.call(workspace.key, 'GET', `/api/workspaces/${workspace.id}/wallet`)).body.wallet,
    cancel: (workspace: TestWorkspace, id: string) =>
      service.call(workspace.key, 'POST', `/api/jobs/${id}/cancel`),
    /** A new source of so many words, and the accepted request to translate it into Spanish. */
    async translate(workspace: TestWorkspace, words = 1200, idempotencyKey?: string) {
      const source = await createArticle(service.db, workspace, await service.project(workspace), {
        document: longDocument(words),
      });
      const answer = await service.call(workspace.key, 'POST', `/api/articles/${source.id}/translations`, {
        language: 'es',
        idempotencyKey: idempotencyKey ?? null,
      });
      expect(answer.status).toBe(202);
      return { source, article: answer.body.article as Article, job: answer.body.job as Job };
    },
    /** Asks for a translation of an article that is there. */
    request: (workspace: TestWorkspace, articleId: string, language = 'es') =>
      service.call(workspace.key, 'POST', `/api/articles/${articleId}/translations`, { language }),
    /** The same until its end: the job, and the article as it is then. */
    async translateTo(workspace: TestWorkspace, articleId: string, language = 'es') {
      const response = await calls.request(workspace, articleId, language);
      expect(response.status).toBe(202);
      const job = await calls.untilFinal(workspace, response.body.job.id);
      return { job, article: await calls.readArticle(workspace, response.body.article.id) };
    },
    /** A finished translation of so many words, and its source, every text of which has changed since. */
    async outdated(workspace: TestWorkspace, words = 1200) {
      const { source, article: version, job } = await calls.translate(workspace, words);
      await calls.untilFinal(workspace, job.id);
      const changed = mapTexts(source.document, ({ text }) => ({ text: `${text} changed` }));
      const saved = await calls.save(workspace, source.id, changed);
      expect(saved.status).toBe(200);
      return { source, version };
    },
    save: (workspace: TestWorkspace, articleId: string, documentJson: DocumentJson) =>
      service.call(workspace.key, 'PATCH', `/api/articles/${articleId}`, { documentJson }),
    /** The job of an accepted request to refresh a version. */
    async refresh(workspace: TestWorkspace, articleId: string, body?: unknown): Promise<Job> {
      const response = await service.call(workspace.key, 'POST', `/api/articles/${articleId}/refresh`, body);
      expect(response.status, JSON.stringify(response.body)).toBe(202);
      return response.body.job;
    },
    async untilFinal(workspace: TestWorkspace, id: string): Promise<Job> {
      await untilEnded(service.db, [id]);
      return calls.readJob(workspace, id);
    },
  };
  return calls;
};

/**
 * What a file about translations needs: the service with a worker on a stand-in for the engine, an operator, and a
 * fresh workspace with so many credits for each test.
 */
export function useTranslations(options: JobOptions = {}) {
  const provider = createStandIn();
  const { service, ...jobs } = useJobs({ provider }, options, async () => {
    provider.behave = async () => undefined;
    provider.answer = undefined;
  });
  return { service, provider, ...jobs, calls: translating(service) };
}

/**
 * What a file about translations by a language model needs: the service with a worker, the model that it calls, and for
 * each test a fresh workspace and the model as it was started.
 * @param options 1,000 credits by default
 */
export function useModel<Model extends EngineServer>(
  start: () => Promise<Model>,
  { credits = 1_000, env = {} }: JobOptions = {},
) {
  const model = madeLater<Model>('model');
  const worker = madeLater<RunningWorker>('worker');
  const workspace = madeLater<TestWorkspace>('workspace');
  let running: Model | undefined;
  let answer: EngineServer['answer'] | undefined;
  beforeAll(async () => {
    running = await start();
    answer = running.answer;
    model.set(running);
  });
  const service = useTestService(
    { TRANSLATION_PROVIDER: 'openai-compatible', AI_MODEL: 'stand-in', ...env },
    () => ({ AI_BASE_URL: `${model.it.url}/v1` }),
  );
  beforeAll(async () => worker.set(await service.startWorker()));
  // Before the service, so that calls without a response end with it.
  afterAll(() => running?.close());
  beforeEach(async () => {
    model.it.requests.length = 0;
    if (answer !== undefined) model.it.answer = answer;
    workspace.set(await service.workspace(credits));
  });
  return {
    model: model.it,
    service,
    worker: worker.it,
    workspace: workspace.it,
    calls: translating(service),
  };
}

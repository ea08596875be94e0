import { expect } from 'vitest';
import type { Article } from '../../src/articles/schemas.ts';
import type { Outline } from '../../src/generation/outline.ts';
import type { Question, QuestionOf } from '../../src/generation/writing/prompts/index.ts';
import { createPseudoWriter } from '../../src/generation/writing/pseudo.ts';
import type { ArticleWriter, ArticleWriters } from '../../src/generation/writing/writer.ts';
import type { Job } from '../../src/jobs/schemas.ts';
import type { ChatResponse } from '../../src/providers/chat-model.ts';
import type { ImageModel } from '../../src/providers/image-model.ts';
import type { Research } from '../../src/research/create.ts';
import { listenToAll } from './events.ts';
import { type JobOptions, useJobs } from './jobs.ts';
import type { Answer, TestService, TestWorkspace } from './service.ts';
import { translating } from './translating.ts';

type Asked = Question['kind'];

/** Responses by kind of part, for those that are not pseudo's. */
type Responses = { [Kind in Asked]?: (question: QuestionOf<Kind>) => Promise<ChatResponse> };

/** A stand-in for a model: does what the test says, then responds like the pseudo writer, or as the test says. */
export interface StandInWriter extends ArticleWriters {
  behave: (what: Asked, signal: AbortSignal) => Promise<void>;
  responses: Responses;
  /** What it was asked for since the test began, and each question whole. */
  asked: Asked[];
  questions: Question[];
  readonly pseudo: ArticleWriter;
}

export function createStandInWriter(): StandInWriter {
  const pseudo = createPseudoWriter();
  const writer: ArticleWriter = {
    ...pseudo,
    async ask(question) {
      standIn.asked.push(question.kind);
      standIn.questions.push(question);
      await standIn.behave(question.kind, question.signal);
      const respond = standIn.responses[question.kind] as ArticleWriter['ask'] | undefined;
      return (respond ?? pseudo.ask)(question);
    },
  };
  const standIn: StandInWriter = {
    premium: writer,
    standard: writer,
    behave: async () => undefined,
    responses: {},
    asked: [],
    questions: [],
    pseudo,
  };
  return standIn;
}

/** Settings of an article of 600 words that costs 1 credit; 2 are held for an image that nobody makes. */
export const config = {
  topic: 'A garden in spring',
  wordCount: 600,
  writingQuality: 'standard',
  imageCount: 1,
} as const;

/** Of few sections, for the same credits. */
export const SHORT = { wordCount: 200 } as const;

export interface Generated {
  readonly article: Article;
  readonly job: Job;
}

/** The calls a client makes around a generation. */
export const generating = (service: TestService) => {
  const shared = translating(service);
  const calls = {
    ...shared,
    requestTranslation: shared.request,
    request: (
      workspace: TestWorkspace,
      projectId: string,
      body: Record<string, unknown> = {},
      headers?: Record<string, string>,
    ): Promise<Answer> =>
      service.call(
        workspace.key,
        'POST',
        `/api/projects/${projectId}/articles/generate`,
        { generationConfig: config, ...body },
        headers,
      ),
    /** An accepted request for a new article. */
    async generate(
      workspace: TestWorkspace,
      settings: Record<string, unknown> = {},
      body: Record<string, unknown> = {},
    ): Promise<Generated> {
      const answer = await calls.request(workspace, await service.project(workspace), {
        generationConfig: { ...config, ...settings },
        ...body,
      });
      expect(answer.status, JSON.stringify(answer.body)).toBe(202);
      return answer.body;
    },
    /** The same until its end. */
    async generateTo(
      workspace: TestWorkspace,
      settings: Record<string, unknown> = {},
      body: Record<string, unknown> = {},
    ): Promise<Generated> {
      const { article, job } = await calls.generate(workspace, settings, body);
      const ended = await calls.untilFinal(workspace, job.id);
      return { job: ended, article: await calls.readArticle(workspace, article.id) };
    },
    draft: (workspace: TestWorkspace, articleId: string, body?: unknown) =>
      service.call(workspace.key, 'POST', `/api/articles/${articleId}/generate`, body),
    /** The outline of an article, and its tag. */
    async outline(
      workspace: TestWorkspace,
      articleId: string,
    ): Promise<{ outline: Outline; edited: boolean; etag: string }> {
      const answer = await service.call(workspace.key, 'GET', `/api/articles/${articleId}/outline`);
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
      return { ...answer.body, etag: answer.headers.get('etag') ?? '' };
    },
    saveOutline: (workspace: TestWorkspace, articleId: string, outline: unknown, ifMatch?: string) =>
      service.call(
        workspace.key,
        'PUT',
        `/api/articles/${articleId}/outline`,
        { outline },
        ifMatch === undefined ? {} : { 'if-match': ifMatch },
      ),
    approve: (workspace: TestWorkspace, articleId: string, ifMatch?: string, body?: unknown) =>
      service.call(
        workspace.key,
        'POST',
        `/api/articles/${articleId}/outline/approve`,
        body,
        ifMatch === undefined ? {} : { 'if-match': ifMatch },
      ),
    /** Events about an article, oldest first, as receivers get them. */
    async events(articleId: string): Promise<{ event: string; data: Record<string, unknown> }[]> {
      const rows = await service.db
        .selectFrom('events')
        .select('body')
        .where('article_id', '=', articleId)
        .orderBy('id')
        .execute();
      return rows.map(({ body }) => JSON.parse(body.toString()));
    },
    eventTypes: async (articleId: string) => (await calls.events(articleId)).map(({ event }) => event),
  };
  return calls;
};

/**
 * What a file about generations needs: the service with a worker on a stand-in for the model, an operator, and for each
 * test a fresh workspace with so many credits that hears all events.
 */
export function useGenerations({
  imageModel,
  research,
  ...options
}: JobOptions & { imageModel?: ImageModel; research?: Research } = {}) {
  const writers = createStandInWriter();
  const { service, ...jobs } = useJobs(
    {
      writers,
      ...(imageModel === undefined ? {} : { imageModel }),
      ...(research === undefined ? {} : { research }),
    },
    options,
    async (workspace) => {
      writers.behave = async () => undefined;
      writers.responses = {};
      writers.asked = [];
      writers.questions = [];
      await listenToAll(service.db, workspace.id);
    },
  );
  return { service, writers, ...jobs, calls: generating(service) };
}

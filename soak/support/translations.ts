import { Client, Connection } from '@temporalio/client';
import { pino } from 'pino';
import type { Database } from '../../src/db/database.ts';
import { type ArticleId, type JobId, newId } from '../../src/ids.ts';
import { createJobRuns } from '../../src/jobs/runs.ts';
import { jobAreas } from '../../src/processes/job-areas.ts';
import { createProject } from '../../src/projects/create.ts';
import { taskQueues } from '../../src/temporal/task-queues.ts';
import { createTranslation } from '../../src/translations/create.ts';
import { createArticle, longDocument } from '../../test/support/articles.ts';
import { eventually } from '../../test/support/wait.ts';
import type { ScriptService, ScriptWorkspace } from './service.ts';

export interface QueuedTranslation {
  readonly jobId: JobId;
  readonly articleId: ArticleId;
  /** By `performance.now()`. */
  readonly requestedAt: number;
}

export interface Translations {
  /** Queues the translation of a new article of so many words, and starts its run. */
  translate(workspace: ScriptWorkspace, words: number, title?: string): Promise<QueuedTranslation>;
  close(): Promise<void>;
}

/** Translations without the HTTP process between: the same verb and the same start. */
export async function createTranslations(service: ScriptService): Promise<Translations> {
  const { db, env } = service;
  const connection = await Connection.connect({ address: env.TEMPORAL_ADDRESS ?? '' });
  const client = new Client({ connection });
  const names = taskQueues(env.TEMPORAL_TASK_QUEUE_PREFIX);
  const runs = createJobRuns({
    client,
    names,
    areas: jobAreas,
    unbilledLimit: 0,
    engineSlots: 100,
    logger: pino({ level: 'warn' }),
  });
  return {
    async translate(workspace, words, title) {
      const projectId = await createProject(workspace.context, {
        name: `Project ${newId()}`,
        languages: ['en', 'es'],
        primaryLanguage: 'en',
      });
      const source = await createArticle(db, workspace, projectId, {
        document: longDocument(words),
        ...(title === undefined ? {} : { title }),
      });
      const requestedAt = performance.now();
      const { job, article } = await createTranslation(
        { ...workspace.context, runs },
        { articleId: source.id, language: 'es' },
      );
      return { jobId: job.id as JobId, articleId: article.id as ArticleId, requestedAt };
    },
    close: () => connection.close(),
  };
}

/** The job's row once it has ended. */
export const untilEnded = (db: Database, jobId: JobId, timeoutMs: number) =>
  eventually(
    () => db.selectFrom('jobs').selectAll().where('id', '=', jobId).executeTakeFirstOrThrow(),
    ({ ended_at }) => ended_at !== null,
    timeoutMs,
  );

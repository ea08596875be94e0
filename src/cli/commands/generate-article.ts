import { Command } from 'commander';
import { z } from 'zod';
import { createArticleBody } from '../../articles/input-schemas.ts';
import { loadConfig } from '../../config.ts';
import type { VerbContext } from '../../context.ts';
import { idOf, languageTag } from '../../fields.ts';
import { generationConfigSchema, MAX_IMAGES, MAX_WORDS, MIN_WORDS } from '../../generation/config.ts';
import { generateArticle } from '../../generation/create.ts';
import type { JobId, ProjectId } from '../../ids.ts';
import { isFinal, jobTag, readJob } from '../../jobs/queries.ts';
import type { Job } from '../../jobs/schemas.ts';
import { createJobWatch } from '../../jobs/watch.ts';
import { generationFeatures } from '../../processes/job-areas.ts';
import { selectProject } from '../../projects/read.ts';
import { closeThreads } from '../../threads/pool.ts';
import { action } from '../action.ts';
import { integer } from '../options.ts';
import { withJobRuns } from '../runs.ts';
import { note } from '../session.ts';
import { workspaceOfProject } from '../targets.ts';

const MAX_WAIT_SECONDS = 86_400;
const field = generationConfigSchema.shape;

const options = z.object({
  project: idOf<ProjectId>(),
  topic: field.topic,
  prompt: field.prompt,
  language: languageTag.optional(),
  words: integer(MIN_WORDS, MAX_WORDS),
  quality: field.writingQuality,
  images: integer(0, MAX_IMAGES).nullable().default(null),
  voice: field.brandVoiceId,
  template: field.contentTemplateId,
  faq: field.faq,
  research: field.researchEnabled,
  reviewOutline: field.reviewOutline,
  title: createArticleBody.shape.title.optional(),
  wait: integer(0, MAX_WAIT_SECONDS),
});

/** `article generate` */
export const generateCommand = (): Command =>
  new Command('generate')
    .description('generate an article from a topic, and follow the job to its end')
    .requiredOption('--project <id>', 'its project')
    .requiredOption('--topic <text>', 'what the article is about')
    .option('--prompt <text>', 'further instructions')
    .option('--language <tag>', "of the article and its text; default: the project's primary language")
    .option('--words <count>', `${MIN_WORDS} to ${MAX_WORDS}`, '1200')
    .option('--quality <name>', 'standard, premium', 'premium')
    .option('--images <count>', 'cover included; default: by the number of words')
    .option('--voice <id>', 'a brand voice of the workspace')
    .option('--template <id>', 'a content template')
    .option('--faq', 'end with frequently asked questions')
    .option('--research', 'research first, and check facts, if the service is configured for it')
    .option('--review-outline', 'stop after the outline, for approval')
    .option('--title <title>', 'default: the topic, until the outline has a title')
    .option('--wait <seconds>', 'how long to follow the job; 0 queues it only', '3600')
    .action(
      action(options, async ({ db, operatorOf }, { project: projectId, wait, ...given }) => {
        const context = operatorOf(await workspaceOfProject(db, projectId));
        const { primaryLanguage } = await selectProject(db, context.actor.workspaceId, projectId);
        const language = given.language ?? primaryLanguage;
        const generationConfig = generationConfigSchema.parse({
          topic: given.topic,
          prompt: given.prompt,
          language,
          wordCount: given.words,
          imageCount: given.images,
          writingQuality: given.quality,
          brandVoiceId: given.voice,
          contentTemplateId: given.template,
          faq: given.faq,
          researchEnabled: given.research,
          reviewOutline: given.reviewOutline,
        });
        const config = loadConfig();
        const { article, job } = await withJobRuns(config, (runs) =>
          generateArticle(
            { ...context, runs, features: generationFeatures(config) },
            { projectId, generationConfig, language, title: given.title },
          ),
        ).finally(closeThreads);
        const ended = await follow(context, job, wait * 1_000);
        if (ended.status === 'FAILED') throw new Error(`job ${job.id}: ${ended.errorMessage}`);
        if (ended.status === 'CANCELLED') throw new Error(`job ${job.id} was cancelled`);
        return {
          articleId: article.id,
          jobId: job.id,
          status: ended.status,
          reservedCredits: ended.reservedCredits,
          consumedCredits: ended.consumedCredits,
        };
      }),
    );

/** Reports each change of the job until it has ended or the time is up. @returns the job as it is then */
async function follow(context: VerbContext, queued: Job, waitMs: number): Promise<Job> {
  const watch = createJobWatch(context.db);
  const until = Date.now() + waitMs;
  let job = queued;
  for (;;) {
    note([job.status, job.currentStep, `${job.progress} %`].filter(Boolean).join('  '));
    const left = until - Date.now();
    if (isFinal(job) || left <= 0) return job;
    await watch.untilChanged(context.actor.workspaceId, job.id as JobId, jobTag(job), left);
    job = await readJob(context, job.id as JobId);
  }
}

import { Command } from 'commander';
import { z } from 'zod';
import { loadConfig } from '../../config.ts';
import { idOf } from '../../fields.ts';
import type { JobId } from '../../ids.ts';
import { cancelJob } from '../../jobs/cancel.ts';
import { listWorkspaceJobs, readJob } from '../../jobs/queries.ts';
import type { Job } from '../../jobs/schemas.ts';
import { action } from '../action.ts';
import { pagedList, pageOf, pageOptions } from '../paged-list.ts';
import { withJobRuns } from '../runs.ts';
import { requireWorkspace, workspaceOfJob } from '../targets.ts';

const listOptions = pageOptions.extend({ open: z.boolean().default(false) });
const jobOptions = z.object({ job: idOf<JobId>() });

const shown = ({ id, ...job }: Job) => ({ jobId: id, ...job });

const list = (): Command =>
  pagedList('the jobs of a workspace')
    .option('--open', 'only those that have not ended')
    .action(
      action(listOptions, async ({ db, operatorOf }, { workspace, open, ...page }) => {
        const context = operatorOf(await requireWorkspace(db, workspace));
        const { jobs, nextCursor } = await listWorkspaceJobs(context, open, pageOf(page));
        return {
          jobs: jobs.map(({ id, articleId, kind, status, currentStep, progress, createdAt }) => ({
            jobId: id,
            articleId,
            kind,
            status,
            currentStep,
            progress,
            createdAt,
          })),
          nextCursor,
        };
      }),
    );

const show = (): Command =>
  new Command('show')
    .description('a job with its progress, its credits and its error')
    .requiredOption('--job <id>', 'the job')
    .action(
      action(jobOptions, async ({ db, operatorOf }, { job }) =>
        shown(await readJob(operatorOf(await workspaceOfJob(db, job)), job)),
      ),
    );

const cancel = (): Command =>
  new Command('cancel')
    .description('cancel an open job: its credits are released and its run ends')
    .requiredOption('--job <id>', 'the job')
    .action(
      action(jobOptions, async ({ db, operatorOf }, { job }) => {
        const context = operatorOf(await workspaceOfJob(db, job));
        return withJobRuns(loadConfig(), async (runs) => shown(await cancelJob({ ...context, runs }, job)));
      }),
    );

/** `job list`, `job show` and `job cancel` */
export const jobCommand = (): Command =>
  new Command('job')
    .description('list, show and cancel jobs, which generate and translate articles')
    .addCommand(list())
    .addCommand(show())
    .addCommand(cancel());

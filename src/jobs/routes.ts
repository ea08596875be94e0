import { z } from 'zod';
import { defineRoute, type RouteModule } from '../http/route.ts';
import { cancelJob } from './cancel.ts';
import { cancelledJobExample, runningJobExample } from './examples.ts';
import { readJob } from './queries.ts';
import type { JobRuns } from './runs.ts';
import { jobSchema } from './schemas.ts';

/** Reading and cancelling jobs. */
export const createJobRoutes = (runs: JobRuns): RouteModule[] => [
  defineRoute(
    {
      method: 'get',
      path: '/api/jobs/{jobId}',
      operationId: 'readJob',
      summary: 'Read a job',
      description: 'Status, step and progress of a run. Poll it until the status is final.',
      tags: ['Jobs'],
      scope: 'job',
      permissions: ['articles.read'],
      responses: {
        200: {
          description: 'The job.',
          schema: z.object({ job: jobSchema }),
          example: { job: runningJobExample },
        },
      },
    },
    async ({ context, params }) => ({ status: 200, body: { job: await readJob(context, params.jobId) } }),
  ),
  defineRoute(
    {
      method: 'post',
      path: '/api/jobs/{jobId}/cancel',
      operationId: 'cancelJob',
      summary: 'Cancel a job',
      description:
        'Ends an open translation: the job is CANCELLED, its article an empty draft, and its credits are free again.',
      tags: ['Jobs'],
      scope: 'job',
      permissions: ['articles.generate'],
      responses: {
        202: {
          description: 'Cancelled.',
          schema: z.object({ job: jobSchema }),
          example: { job: cancelledJobExample },
        },
      },
      errors: ['CONFLICT'],
    },
    async ({ context, params }) => ({
      status: 202,
      body: { job: await cancelJob({ ...context, runs }, params.jobId) },
    }),
  ),
];

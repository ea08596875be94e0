import { z } from 'zod';
import type { VerbContext } from '../context.ts';
import { defineRoute, type RouteModule } from '../http/route.ts';
import { ok } from '../http/success.ts';
import type { JobId } from '../ids.ts';
import { readJob } from './queries.ts';
import type { Job } from './schemas.ts';

/** An area's report on its jobs. */
interface Reports<Report> {
  readonly schema: z.ZodType<Report>;
  readonly example: Report;
  /** @throws {ServiceError} RESOURCE_NOT_FOUND */
  readonly read: (context: VerbContext, jobId: JobId) => Promise<Report>;
}

/** The report of a job: each kind has its own shape. */
export const createReportRoute = <Translation, Generation>(reports: {
  readonly translation: Reports<Translation>;
  readonly generation: Reports<Generation>;
}): RouteModule =>
  defineRoute(
    {
      method: 'get',
      path: '/api/jobs/{jobId}/report',
      operationId: 'readJobReport',
      summary: 'Read the report of a job',
      description:
        'The outcome of each text of a translation or refresh, the worst first, or of each section of a generation, and the credits. While the job is open, the report has what is done so far. It is kept as long as the job.',
      tags: ['Jobs'],
      scope: 'job',
      permissions: ['articles.read'],
      responses: {
        200: {
          description: 'The report: which one follows from the kind of the job.',
          schema: z.object({ report: z.union([reports.translation.schema, reports.generation.schema]) }),
          example: { report: reports.translation.example },
        },
      },
    },
    async ({ context, params }) => {
      const { kind }: Pick<Job, 'kind'> = await readJob(context, params.jobId);
      return ok({ report: await reports[kind].read(context, params.jobId) });
    },
  );

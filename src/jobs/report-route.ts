import { z } from 'zod';
import type { VerbContext } from '../context.ts';
import type { JobPurpose } from '../db/tables.ts';
import { defineRoute, type RouteModule } from '../http/route.ts';
import { ok } from '../http/success.ts';
import type { JobId } from '../ids.ts';
import { readPurpose } from './queries.ts';

/** An area's report on its jobs. */
interface Reports<Report> {
  readonly schema: z.ZodType<Report>;
  readonly example: Report;
  /** @throws {ServiceError} RESOURCE_NOT_FOUND */
  readonly read: (context: VerbContext, jobId: JobId) => Promise<Report>;
}

/** Which report a job has, by its purpose. */
const REPORTS = {
  translate: 'translation',
  refresh: 'translation',
  generate: 'generation',
  outline: 'generation',
  image: 'image',
} as const satisfies Record<JobPurpose, string>;

/** The report of a job: each kind has its own shape, and so have jobs that regenerate an image. */
export const createReportRoute = <Translation, Generation, Image>(reports: {
  readonly translation: Reports<Translation>;
  readonly generation: Reports<Generation>;
  readonly image: Reports<Image>;
}): RouteModule =>
  defineRoute(
    {
      method: 'get',
      path: '/api/jobs/{jobId}/report',
      operationId: 'readJobReport',
      summary: 'Read the report of a job',
      description:
        'The outcome of each text of a translation or refresh, the worst first, of each section of a generation, or of a regenerated image, and the credits. While the job is open, the report has what is done so far. It is kept as long as the job.',
      tags: ['Jobs'],
      scope: 'job',
      permissions: ['articles.read'],
      responses: {
        200: {
          description: 'The report: which one follows from the kind of the job, and from what it makes.',
          schema: z.object({
            report: z.union([reports.translation.schema, reports.generation.schema, reports.image.schema]),
          }),
          example: { report: reports.translation.example },
        },
      },
    },
    async ({ context, params }) => {
      const purpose = await readPurpose(context, params.jobId);
      return ok({ report: await reports[REPORTS[purpose]].read(context, params.jobId) });
    },
  );

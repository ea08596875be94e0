import { z } from 'zod';
import { defineListOfArticle } from '../http/list-of-article.ts';
import { integerParameter, nextCursor } from '../http/paging.ts';
import { defineRoute, type RouteModule } from '../http/route.ts';
import { accepted } from '../http/success.ts';
import { cancelJob } from './cancel.ts';
import { cancelledJobExample, runningJobExample } from './examples.ts';
import { isFinal, jobTag, listJobs, readJob } from './queries.ts';
import type { JobRuns } from './runs.ts';
import { jobSchema } from './schemas.ts';
import type { JobWatch } from './watch.ts';

/** Longest wait of one request, in seconds. */
const MAX_WAIT = 30;
const MAX_IF_NONE_MATCH = 2_048;
const ETAG = { ETag: "The job's tag, for If-None-Match." };

/** True when the header names the tag; a weak one counts (RFC 9110, 13.1.2). */
const names = (header: string | null, tag: string): boolean =>
  (header ?? '')
    .slice(0, MAX_IF_NONE_MATCH)
    .split(',')
    .some((each) => each.trim().replace(/^W\//, '') === tag);

/** Reading, following and cancelling jobs. */
export const createJobRoutes = (runs: JobRuns, watch: JobWatch): RouteModule[] => [
  defineListOfArticle({
    name: 'jobs',
    operationId: 'listArticleJobs',
    summary: 'List the jobs of an article',
    description: 'The runs that write or wrote this article, newest first, page by page.',
    tags: ['Jobs'],
    schema: z.object({ jobs: z.array(jobSchema), nextCursor }),
    example: { jobs: [runningJobExample], nextCursor: null },
    list: listJobs,
  }),
  defineRoute(
    {
      method: 'get',
      path: '/api/jobs/{jobId}',
      operationId: 'readJob',
      summary: 'Read a job',
      description:
        'Status, step and progress of a run. To follow it, send the ETag of the last response as If-None-Match, with `wait`: the response comes when the job has changed, or is 304 when the time is over. For a job that has ended it comes at once. At most 20 requests of a workspace wait at once; one more is 429.',
      tags: ['Jobs'],
      scope: 'job',
      permissions: ['articles.read'],
      query: z.object({
        wait: integerParameter(0, MAX_WAIT, 0).meta({
          description: 'Seconds to wait for a change since the ETag in If-None-Match. Without that, no wait.',
        }),
      }),
      headers: {
        'If-None-Match': {
          description: 'The ETag of the last response.',
          maxLength: MAX_IF_NONE_MATCH,
        },
      },
      responses: {
        200: {
          description: 'The job.',
          schema: z.object({ job: jobSchema }),
          example: { job: runningJobExample },
          headers: ETAG,
        },
        304: { description: 'The job has not changed.', headers: ETAG },
      },
    },
    async ({ context, params, query, headers, connection }) => {
      const known = headers.get('if-none-match');
      let job = await readJob(context, params.jobId);
      if (query.wait > 0 && names(known, jobTag(job)) && !isFinal(job)) {
        const waitMs = query.wait * 1_000;
        await watch.untilChanged(context.actor.workspaceId, params.jobId, jobTag(job), waitMs, connection);
        job = await readJob(context, params.jobId);
      }
      const tag = jobTag(job);
      return names(known, tag)
        ? { status: 304, body: null, headers: { ETag: tag } }
        : { status: 200, body: { job }, headers: { ETag: tag } };
    },
  ),
  defineRoute(
    {
      method: 'post',
      path: '/api/jobs/{jobId}/cancel',
      operationId: 'cancelJob',
      summary: 'Cancel a job',
      description:
        'Ends an open job: it is CANCELLED, and its credits are released. The article of a translation becomes an empty draft, that of a generation a draft with the outline it had; a refresh leaves its article as it is.',
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
    async ({ context, params }) => accepted({ job: await cancelJob({ ...context, runs }, params.jobId) }),
  ),
];

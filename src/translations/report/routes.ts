import { defineRoute, type RouteModule } from '../../http/route.ts';
import { reportExample } from './examples.ts';
import { readReport } from './read.ts';
import { reportResponse } from './schemas.ts';

/** What became of the texts of a job (contract.md V25). */
export const createReportRoutes = (): RouteModule[] => [
  defineRoute(
    {
      method: 'get',
      path: '/api/jobs/{jobId}/report',
      operationId: 'readJobReport',
      summary: 'Read the report of a translation',
      description:
        'What became of each text of a translation or refresh, the worst first, and what it cost. While the job is open it tells what is done so far. It stays as long as the job. Other jobs have none: 404.',
      tags: ['Jobs'],
      scope: 'job',
      permissions: ['articles.read'],
      responses: {
        200: { description: 'The report.', schema: reportResponse, example: { report: reportExample } },
      },
    },
    async ({ context, params }) => ({
      status: 200,
      body: { report: await readReport(context, params.jobId) },
    }),
  ),
];

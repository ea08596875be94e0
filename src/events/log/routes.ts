import type { VerbContext } from '../../context.ts';
import { defineRoute, type HandlerInput, type RouteModule } from '../../http/route.ts';
import { ok } from '../../http/success.ts';
import { type PulledEvents, type PullRequest, pullEvents } from './pull.ts';
import { pullEventsQuery, pulledEventsSchema } from './schemas.ts';
import type { EventWatch } from './watch.ts';

type Connection = HandlerInput<string, 'workspace', undefined, undefined, false>['connection'];

/**
 * Pulls, and while there is nothing to show waits for events and pulls again, from where it has looked to. Whatever ended
 * the wait, the caller's authority is read once more before the response.
 */
async function pullOrWait(
  context: VerbContext,
  request: PullRequest,
  watch: EventWatch,
  { waitMs, connection }: { readonly waitMs: number; readonly connection: Connection },
): Promise<PulledEvents> {
  const { workspaceId } = context.actor;
  const end = performance.now() + waitMs;
  let page = await pullEvents(context, request);
  for (let goesOn = waitMs > 0; goesOn && page.events.length === 0 && !page.more; ) {
    const leftMs = Math.max(0, end - performance.now());
    goesOn = await watch.untilChanged(workspaceId, workspaceId, page.latest, leftMs, connection);
    page = await pullEvents(context, { ...request, after: page.cursor });
  }
  return page;
}

/** The events of a workspace, to be pulled. */
export const createEventRoutes = (watch: EventWatch): RouteModule[] => [
  defineRoute(
    {
      method: 'get',
      path: '/api/workspaces/{workspaceId}/events',
      operationId: 'pullEvents',
      summary: 'Pull events',
      description:
        'Every event of the workspace, in the order of its log, whether an endpoint subscribes to it or not, for as long as ended deliveries are kept. Send the `cursor` of each response as `after`. A response has up to `limit` events and 1 MiB of them; with a filter it looks at up to 10,000, so it can have few or none while `more` is true. With `wait` a request without events stays open until there is one, at most 50 of a workspace at once; one more is 429. A cursor that the log does not go on from is 410 `cursor_lost`: read the current state, then go on from `details.latest`.',
      tags: ['Webhooks'],
      scope: 'workspace',
      permissions: ['integrations.read'],
      query: pullEventsQuery,
      responses: {
        200: {
          description: 'Events, the oldest first.',
          schema: pulledEventsSchema,
          example: {
            events: [
              {
                id: '019abf2e-6f0b-7b59-9a0e-1f0c6f0b7d11',
                type: 'article.created',
                articleId: '5b0f2f8e-7c35-4a53-9d0f-6f1f8e5c2a10',
                createdAt: '2026-11-21T07:30:00.000Z',
                body: {
                  event: 'article.created',
                  data: {
                    articleId: '5b0f2f8e-7c35-4a53-9d0f-6f1f8e5c2a10',
                    projectId: 'f3a3c1f4-51f5-4d5b-b0b9-0a7f6a3c9d22',
                    title: 'A garden in spring',
                  },
                },
              },
            ],
            cursor: 'NDIgMDE5YWJmMmUtNmYwYi03YjU5LTlhMGUtMWYwYzZmMGI3ZDEx',
            more: false,
          },
        },
      },
      errors: ['GONE', 'RATE_LIMITED'],
    },
    async ({ context, query: { wait, ...request }, connection }) => {
      const waiting = { waitMs: wait * 1_000, connection };
      const { events, cursor, more } = await pullOrWait(context, request, watch, waiting);
      return ok({ events, cursor, more });
    },
  ),
];

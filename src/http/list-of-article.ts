import type { z } from 'zod';
import type { VerbContext } from '../context.ts';
import type { ArticleId } from '../ids.ts';
import { decodeCursor, type PageRequest, pageQuery } from './paging.ts';
import { defineRoute, type RouteDefinition, type RouteModule } from './route.ts';
import { ok } from './success.ts';

interface ListOfArticle<Id extends string, Page>
  extends Pick<RouteDefinition, 'operationId' | 'summary' | 'description' | 'tags'> {
  /** The path segment after the article's id. */
  readonly name: string;
  readonly schema: z.ZodType<Page>;
  readonly example: Page;
  readonly list: (context: VerbContext, articleId: ArticleId, page: PageRequest<Id>) => Promise<Page>;
}

/** Declares a route that lists what belongs to one article, page by page (articles.read). */
export const defineListOfArticle = <Id extends string, Page>({
  name,
  schema,
  example,
  list,
  ...about
}: ListOfArticle<Id, Page>): RouteModule =>
  defineRoute(
    {
      ...about,
      method: 'get',
      path: `/api/articles/{articleId}/${name}`,
      scope: 'article',
      permissions: ['articles.read'],
      query: pageQuery,
      responses: { 200: { description: 'One page.', schema, example } },
    },
    async ({ context, params, query: { limit, cursor } }) =>
      ok(await list(context, params.articleId, { limit, position: decodeCursor<Id>(cursor) })),
  );

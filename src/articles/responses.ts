import { z } from 'zod';
import { MAX_IF_MATCH } from '../http/etag.ts';
import type { RouteResponse } from '../http/route.ts';
import { articleExample } from './examples.ts';
import { type Article, articleSchema } from './schemas.ts';
import type { ShownArticle } from './show.ts';

/** The request header of every save. */
export const IF_MATCH = {
  'If-Match': {
    description: 'The ETag of the version that your change is based on.',
    maxLength: MAX_IF_MATCH,
  },
};

/** The documentation of a response with one article. */
export const articleResponse = (description: string, article: Partial<Article> = {}) => ({
  description,
  schema: z.object({ article: articleSchema }),
  example: { article: { ...articleExample, ...article } },
  headers: { ETag: "The version's tag, for If-Match." },
});

/** One article with its entity tag, and further fields. */
export const respondWithArticle = (
  { article, tag }: ShownArticle,
  status: 200 | 201 = 200,
  more: Readonly<Record<string, unknown>> = {},
): RouteResponse => ({ status, body: { article, ...more }, headers: { ETag: tag } });

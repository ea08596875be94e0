import { z } from 'zod';
import type { RouteResponse } from '../http/route.ts';
import { JsonText, writeJson } from '../json-text.ts';
import { etagOfJson, MAX_IF_MATCH } from './etag.ts';
import { articleExample } from './examples.ts';
import { type Article, type ArticleResponse, articleSchema } from './schemas.ts';

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

/** One article with its entity tag, and what else is to be said. Both are made of the same text, which is written once. */
export function respondWithArticle(
  article: ArticleResponse,
  status: 200 | 201 = 200,
  more: Readonly<Record<string, unknown>> = {},
): RouteResponse {
  const json = writeJson(article);
  return { status, body: { article: new JsonText(json), ...more }, headers: { ETag: etagOfJson(json) } };
}

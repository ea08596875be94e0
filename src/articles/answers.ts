import { z } from 'zod';
import type { RouteAnswer } from '../http/route.ts';
import { etagOf } from './etag.ts';
import { articleExample } from './examples.ts';
import { type Article, articleSchema } from './schemas.ts';

const ETAG = { ETag: "The version's tag, for If-Match." };

/** The documentation of an answer that holds one article. */
export const articleAnswer = (description: string, article: Partial<Article> = {}) => ({
  description,
  schema: z.object({ article: articleSchema }),
  example: { article: { ...articleExample, ...article } },
  headers: ETAG,
});

/** One article with its entity tag. */
export const answerArticle = (article: Article, status: 200 | 201 = 200): RouteAnswer => ({
  status,
  body: { article },
  headers: { ETag: etagOf(article) },
});

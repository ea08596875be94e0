import { z } from 'zod';
import type { RouteAnswer } from '../http/route.ts';
import { JsonText, writeJson } from '../json-text.ts';
import { etagOfJson } from './etag.ts';
import { articleExample } from './examples.ts';
import { type AnsweredArticle, type Article, articleSchema } from './schemas.ts';

const ETAG = { ETag: "The version's tag, for If-Match." };

/** The documentation of an answer that holds one article. */
export const articleAnswer = (description: string, article: Partial<Article> = {}) => ({
  description,
  schema: z.object({ article: articleSchema }),
  example: { article: { ...articleExample, ...article } },
  headers: ETAG,
});

/** One article with its entity tag. Both are made of the same text, which is written once. */
export function answerArticle(article: AnsweredArticle, status: 200 | 201 = 200): RouteAnswer {
  const json = writeJson(article);
  return { status, body: { article: new JsonText(json) }, headers: { ETag: etagOfJson(json) } };
}

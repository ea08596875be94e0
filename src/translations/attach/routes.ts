import { articleResponse, IF_MATCH, respondWithArticle } from '../../articles/responses.ts';
import { defineRoute, type RouteModule } from '../../http/route.ts';
import { attachTranslation } from './attach.ts';
import { detachTranslation } from './detach.ts';
import { attachBody, attachedResponse } from './schemas.ts';

/** The article that the example attaches. */
const ATTACHED_ID = 'b6d2f0a4-5c83-4e17-9a6b-1f4e8d2c7035';

/** Pairs of the most blocks, with the longest ids. */
const MAX_PAIRS_BYTES = 6 * 1024 * 1024;

/** Articles that become versions of a source, and no longer are (contract.md T67 to T73). */
export const createAttachRoutes = (): RouteModule[] => [
  defineRoute(
    {
      method: 'post',
      path: '/api/articles/{articleId}/translations/attach',
      operationId: 'attachTranslation',
      summary: 'Attach a translation of your own',
      description:
        "Makes an article of the project a version of this one: it joins the translation group, and its blocks are paired with the source's in order, by type, level and number of items. Its text, slug, categories and status stay. Every pair counts as stale until mark-current confirms it, and a refresh only proposes until then. It must be a DRAFT, NEEDS_REVIEW, CHANGES_REQUESTED or APPROVED article that no job owns: 409 `has_versions` when its own group has other members, `translation_exists` when the source has a version in its language.",
      tags: ['Translations'],
      scope: 'article',
      permissions: ['articles.update'],
      body: attachBody,
      bodyExample: { articleId: ATTACHED_ID },
      responseBytes: MAX_PAIRS_BYTES,
      responses: {
        200: {
          description: 'Attached, or with dryRun what would be.',
          schema: attachedResponse,
          example: {
            pairs: [
              { source: 'title', version: 'title' },
              { source: 'block:b1', version: 'block:intro' },
            ],
            onlyInSource: ['block:b2'],
            onlyInVersion: [],
          },
          headers: {
            ETag: 'The tag of the translation state, for If-Match of mark-current; none with dryRun.',
          },
        },
      },
      errors: ['CONFLICT', 'QUOTA_EXCEEDED'],
    },
    async ({ context, params, body: { articleId, dryRun } }) => {
      const { tag, ...paired } = await attachTranslation(context, {
        sourceId: params.articleId,
        articleId,
        dryRun,
      });
      return { status: 200, body: paired, ...(tag === null ? {} : { headers: { ETag: tag } }) };
    },
  ),
  defineRoute(
    {
      method: 'post',
      path: '/api/articles/{articleId}/translations/detach',
      operationId: 'detachTranslation',
      summary: 'Detach a version',
      description:
        'Gives a version a translation group of its own. What is kept about its translation goes, and so do its proposals; its text, slug, categories, status and style sheet stay. 409 `has_versions` for the source of other versions. An article that is alone stays as it is.',
      tags: ['Translations'],
      scope: 'article',
      permissions: ['articles.update'],
      headers: IF_MATCH,
      responses: {
        200: articleResponse('The article.', { primaryLanguage: 'es' }),
      },
      errors: ['CONFLICT', 'PRECONDITION_FAILED'],
    },
    async ({ context, params, headers }) =>
      respondWithArticle(
        await detachTranslation(context, params.articleId, headers.get('if-match') ?? undefined),
      ),
  ),
];

import { z } from 'zod';
import { notFound } from '../../errors.ts';
import { canonicalLanguage } from '../../fields.ts';
import { defineRoute, type RouteModule } from '../../http/route.ts';
import { DONE, doneResponses, ok } from '../../http/success.ts';
import { putStyleBody, type StyleResponse, styleSchema } from './schemas.ts';
import { deleteStyle, listStyles, putStyle } from './styles.ts';

const example = {
  language: 'de',
  formality: 'informal',
  instructions: 'Short sentences. Measures in metric units.',
  updatedAt: '2026-11-21T07:30:00.000Z',
} satisfies StyleResponse;

/** @throws {ServiceError} RESOURCE_NOT_FOUND for an invalid language tag */
function pathLanguage(text: string): string {
  const language = canonicalLanguage(text);
  if (language === null) throw notFound('language');
  return language;
}

/** Styles of a project by language (contract.md V13 and V14). */
export const createStyleRoutes = (): RouteModule[] => [
  defineRoute(
    {
      method: 'get',
      path: '/api/projects/{projectId}/translation-styles',
      operationId: 'listTranslationStyles',
      summary: 'List the styles of translations',
      description: 'One for each language that has one, by language tag.',
      tags: ['Translations'],
      scope: 'project',
      permissions: ['articles.read'],
      // 200 styles with the longest instructions.
      responseBytes: 2.5 * 1024 * 1024,
      responses: {
        200: {
          description: 'The styles.',
          schema: z.object({ styles: z.array(styleSchema) }),
          example: { styles: [example] },
        },
      },
    },
    async ({ context, params }) => ok({ styles: await listStyles(context, params.projectId) }),
  ),
  defineRoute(
    {
      method: 'put',
      path: '/api/projects/{projectId}/translation-styles/{language}',
      operationId: 'putTranslationStyle',
      summary: 'Set the style of translations into a language',
      description:
        "Replaces the style as a whole. It applies to translations and refreshes started from then on. The language is one of the project's. A project has up to 200.",
      tags: ['Translations'],
      scope: 'project',
      permissions: ['translations.configure'],
      body: putStyleBody,
      bodyExample: { formality: example.formality, instructions: example.instructions },
      responses: {
        200: {
          description: 'The style.',
          schema: z.object({ style: styleSchema }),
          example: { style: example },
        },
      },
      errors: ['CONFLICT'],
    },
    async ({ context, params, body }) =>
      ok({
        style: await putStyle(
          context,
          { projectId: params.projectId, language: pathLanguage(params.language) },
          body,
        ),
      }),
  ),
  defineRoute(
    {
      method: 'delete',
      path: '/api/projects/{projectId}/translation-styles/{language}',
      operationId: 'deleteTranslationStyle',
      summary: 'Delete the style of translations into a language',
      tags: ['Translations'],
      scope: 'project',
      permissions: ['translations.configure'],
      responses: doneResponses('Deleted.'),
    },
    async ({ context, params }) => {
      await deleteStyle(context, {
        projectId: params.projectId,
        language: pathLanguage(params.language),
      });
      return DONE;
    },
  ),
];

import { z } from 'zod';
import { MAX_IF_MATCH } from '../../http/etag.ts';
import type { RouteResponse } from '../../http/route.ts';
import { defineRoute, type RouteModule } from '../../http/route.ts';
import { type StyleSheetResponse, styleSheetSchema, updateSheetBody } from './schemas.ts';
import { readStyleSheet, type ShownSheet, updateStyleSheet } from './update.ts';

/** A hundred terms of the longest words. */
const MAX_SHEET_BYTES = 64 * 1024;

const example = {
  language: 'es',
  address: 'tú',
  gender: 'neutral',
  quotes: '«…»',
  numbers: '1.234,5',
  dates: '31/12/2026',
  titleCase: 'sentence',
  variant: 'es-ES',
  terms: [{ source: 'raised bed', target: 'bancal elevado' }],
  updatedAt: '2026-11-21T07:30:00.000Z',
} satisfies StyleSheetResponse;

const sheetResponse = (description: string, changed: Partial<StyleSheetResponse> = {}) => ({
  description,
  schema: z.object({ styleSheet: styleSheetSchema }),
  example: { styleSheet: { ...example, ...changed } },
  headers: { ETag: "The sheet's tag, for If-Match." },
});

const respond = ({ styleSheet, tag }: ShownSheet): RouteResponse => ({
  status: 200,
  body: { styleSheet },
  headers: { ETag: tag },
});

/** The style sheets of versions (contract.md V44 and V45). */
export const createStyleSheetRoutes = (): RouteModule[] => [
  defineRoute(
    {
      method: 'get',
      path: '/api/articles/{articleId}/style-sheet',
      operationId: 'readStyleSheet',
      summary: 'Read the style sheet of a version',
      description:
        'What its translations decide once: form of address, gender, quotation marks, numbers, dates, titles, and its own terms. A model draws it with the first translation of more than 300 words in several requests; 404 before.',
      tags: ['Translations'],
      scope: 'article',
      permissions: ['articles.read'],
      responseBytes: MAX_SHEET_BYTES,
      responses: { 200: sheetResponse('The sheet.') },
    },
    async ({ context, params }) => respond(await readStyleSheet(context, params.articleId)),
  ),
  defineRoute(
    {
      method: 'patch',
      path: '/api/articles/{articleId}/style-sheet',
      operationId: 'updateStyleSheet',
      summary: 'Change the style sheet of a version',
      description:
        'Changes only the fields you send; `terms` replaces all terms. It applies to translations and refreshes that are planned from then on, and makes no text stale. If-Match is required: 412 when the sheet has changed since you read it.',
      tags: ['Translations'],
      scope: 'article',
      permissions: ['articles.update'],
      responseBytes: MAX_SHEET_BYTES,
      bodyBytes: 2 * MAX_SHEET_BYTES,
      body: updateSheetBody,
      bodyExample: { address: 'informal', titleCase: null },
      headers: {
        'If-Match': {
          description: 'The ETag of the sheet that your change is based on.',
          required: true,
          maxLength: MAX_IF_MATCH,
        },
      },
      responses: { 200: sheetResponse('The sheet as it is now.', { address: 'informal', titleCase: null }) },
      errors: ['PRECONDITION_FAILED'],
    },
    async ({ context, params, body, headers }) =>
      respond(await updateStyleSheet(context, params.articleId, body, headers.get('if-match') ?? undefined)),
  ),
];

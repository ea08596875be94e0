import { z } from 'zod';
import { ARTICLE_STATUSES } from '../db/tables.ts';
import { documentSchema } from '../document/format/schema.ts';
import { iso } from '../fields.ts';
import { JsonText } from '../json-text.ts';
import { contentTag } from './etag.ts';
import type { ArticleRow, ArticleSummaryRow } from './queries.ts';

const date = z.iso.datetime();

/** contract.md R. */
export const articleSchema = z
  .object({
    id: z.uuid(),
    workspaceId: z.uuid(),
    projectId: z.uuid(),
    title: z.string(),
    slug: z.string().describe('URL-safe form of the title, unique in its project and language'),
    status: z.enum(ARTICLE_STATUSES),
    documentJson: documentSchema.describe('The content: typed blocks in order'),
    contentHtml: z
      .string()
      .nullable()
      .describe(
        'The document as HTML. Links to articles and images have their address as of this response. Null before the first render',
      ),
    contentMarkdown: z.string().nullable().describe('The same as Markdown'),
    metaTitle: z.string().nullable(),
    metaDescription: z.string().nullable(),
    targetKeywords: z.array(z.string()),
    secondaryKeywords: z.array(z.string()),
    primaryLanguage: z.string().describe('The language of this version'),
    translationGroupId: z.uuid().describe('Shared by all language versions of one article'),
    generationConfig: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe('Settings of the AI generation that wrote it; null if there was none'),
    outline: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe('What that generation planned from; null if there was none'),
    createdBy: z
      .string()
      .nullable()
      .describe('The user who made it, or the creator of the key that did; null when there is none'),
    publishedAt: date.nullable().describe('When it was last published; null if it never was'),
    briefId: z.uuid().nullable(),
    publishedUrl: z
      .string()
      .nullable()
      .describe('The URL that a publishing integration reported; null until one does'),
    wordCount: z.int().nullable().describe('Words of the document, counted on every save'),
    createdAt: date,
    updatedAt: date.describe('Changes with a save, a status change, an image or the address of a link'),
    contentTag: z
      .string()
      .describe(
        'The tag of title, document, meta texts, keywords and images, for If-Match of a review. It includes the quotes',
      ),
  })
  .meta({ id: 'Article' });

export type Article = z.infer<typeof articleSchema>;

/** An article as sent: its JSON is text until `writeJson` inserts it. */
export type ArticleResponse = Omit<Article, 'documentJson' | 'generationConfig' | 'outline'> & {
  readonly documentJson: JsonText;
  readonly generationConfig: JsonText | null;
  readonly outline: JsonText | null;
};

/** An article in a list: without the body and its renderings. */
export const articleSummarySchema = articleSchema
  .omit({
    documentJson: true,
    contentHtml: true,
    contentMarkdown: true,
    generationConfig: true,
    outline: true,
    contentTag: true,
  })
  .meta({ id: 'ArticleSummary' });

export type ArticleSummary = z.infer<typeof articleSummarySchema>;

// In parts, because the fields that a list omits come in between.
const beforeBody = (row: ArticleSummaryRow) => ({
  id: row.id,
  workspaceId: row.workspace_id,
  projectId: row.project_id,
  title: row.title,
  slug: row.slug,
  status: row.status,
});
const afterBody = (row: ArticleSummaryRow) => ({
  metaTitle: row.meta_title,
  metaDescription: row.meta_description,
  targetKeywords: row.target_keywords,
  secondaryKeywords: row.secondary_keywords,
  primaryLanguage: row.primary_language,
  translationGroupId: row.translation_group_id,
});
const afterGeneration = (row: ArticleSummaryRow) => ({
  createdBy: row.created_by,
  publishedAt: iso(row.published_at),
  briefId: row.brief_id,
  publishedUrl: row.published_url,
  wordCount: row.word_count,
  createdAt: iso(row.created_at),
  updatedAt: iso(row.updated_at),
});

/** The wire form of a row in a list. */
export const toSummary = (row: ArticleSummaryRow): ArticleSummary => ({
  ...beforeBody(row),
  ...afterBody(row),
  ...afterGeneration(row),
});

const asText = (json: string | null): JsonText | null => (json === null ? null : new JsonText(json));

/** The wire form of an article's row, with the content that `showArticle` makes of it. */
export const toArticle = (
  row: ArticleRow,
  content: { readonly html: string | null; readonly markdown: string | null },
): ArticleResponse => ({
  ...beforeBody(row),
  documentJson: new JsonText(row.document),
  contentHtml: content.html,
  contentMarkdown: content.markdown,
  ...afterBody(row),
  generationConfig: asText(row.generation_config),
  outline: asText(row.outline),
  ...afterGeneration(row),
  contentTag: contentTag(row),
});

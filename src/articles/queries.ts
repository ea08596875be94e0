import { type Selectable, sql } from 'kysely';
import { clockTimestamp } from '../db/clock.ts';
import type { Tables } from '../db/tables.ts';

/**
 * Set by every statement that changes an article's response: the entity tag contains the version. A changed link address
 * sets `updated_at` alone.
 */
export const articleChanged = { version: sql<number>`articles.version + 1`, updated_at: clockTimestamp };

/** Set with `articleChanged` by every change of what a reviewer reads (contract.md R18); `replaceContent` sets it itself. */
export const contentChanged = { content_version: sql<number>`articles.content_version + 1` };

/** The columns of an article response. JSON stays text and is never parsed. */
export const articleColumns = [
  'articles.id',
  'articles.workspace_id',
  'articles.project_id',
  'articles.title',
  'articles.slug',
  'articles.status',
  sql<string>`articles.document::text`.as('document'),
  'articles.content_html',
  'articles.content_markdown',
  sql<string | null>`articles.content_places::text`.as('content_places'),
  'articles.rendered_by',
  'articles.bytes',
  'articles.is_translation',
  'articles.version',
  'articles.content_version',
  'articles.meta_title',
  'articles.meta_description',
  'articles.target_keywords',
  'articles.secondary_keywords',
  'articles.primary_language',
  'articles.translation_group_id',
  sql<string | null>`articles.generation_config::text`.as('generation_config'),
  sql<string | null>`articles.outline::text`.as('outline'),
  'articles.created_by',
  'articles.published_at',
  'articles.brief_id',
  'articles.published_url',
  'articles.word_count',
  'articles.created_at',
  'articles.updated_at',
] as const;

/** A row of `articleColumns`. */
export type ArticleRow = Pick<
  Selectable<Tables['articles']>,
  | 'content_html'
  | 'content_markdown'
  | 'rendered_by'
  | 'bytes'
  | 'is_translation'
  | 'version'
  | 'content_version'
  | (typeof summaryColumns)[number]
> & {
  /** `Places` as JSON text. */
  readonly content_places: string | null;
  /** documentJson as text; so are the next two. */
  readonly document: string;
  readonly generation_config: string | null;
  readonly outline: string | null;
};

/** The columns of an article in a list: without the body and its renderings. */
export const summaryColumns = [
  'id',
  'workspace_id',
  'project_id',
  'title',
  'slug',
  'status',
  'meta_title',
  'meta_description',
  'target_keywords',
  'secondary_keywords',
  'primary_language',
  'translation_group_id',
  'created_by',
  'published_at',
  'brief_id',
  'published_url',
  'word_count',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof Tables['articles'])[];

export type ArticleSummaryRow = Pick<ArticleRow, (typeof summaryColumns)[number]>;

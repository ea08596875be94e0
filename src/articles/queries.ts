import { type Selectable, sql } from 'kysely';
import { clockTimestamp } from '../db/clock.ts';
import type { Tables } from '../db/tables.ts';

/**
 * What every statement sets that changes what an article's response shows: its entity tag moves with the version. Only
 * another address of a link changes `updated_at` alone.
 */
export const articleChanged = { version: sql<number>`articles.version + 1`, updated_at: clockTimestamp };

/** Everything an article response shows. Its JSON stays text: it is passed on, never parsed on the way. */
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
  'articles.version',
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
  'content_html' | 'content_markdown' | 'rendered_by' | 'version' | (typeof summaryColumns)[number]
> & {
  /** `Places` as JSON text. */
  readonly content_places: string | null;
  /** documentJson as text; so are the next two. */
  readonly document: string;
  readonly generation_config: string | null;
  readonly outline: string | null;
};

/** The same without the body and what was made from it: what a list shows. */
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

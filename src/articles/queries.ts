import type { Selectable } from 'kysely';
import type { Tables } from '../db/tables.ts';

/** Everything an article answer shows. */
export const articleColumns = [
  'id',
  'workspace_id',
  'project_id',
  'title',
  'slug',
  'status',
  'document',
  'content_html',
  'content_markdown',
  'meta_title',
  'meta_description',
  'target_keywords',
  'secondary_keywords',
  'primary_language',
  'translation_group_id',
  'generation_config',
  'outline',
  'created_by',
  'published_at',
  'brief_id',
  'published_url',
  'word_count',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof Tables['articles'])[];

export type ArticleRow = Pick<Selectable<Tables['articles']>, (typeof articleColumns)[number]>;

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
] as const satisfies readonly (typeof articleColumns)[number][];

export type ArticleSummaryRow = Pick<ArticleRow, (typeof summaryColumns)[number]>;

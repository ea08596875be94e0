import type { ArticleChange, ArticleSet, NewEvent } from '../events/catalog.ts';
import type { ArticleRow } from './queries.ts';

type SetRow = Pick<
  ArticleRow,
  | 'id'
  | 'workspace_id'
  | 'project_id'
  | 'slug'
  | 'status'
  | 'primary_language'
  | 'translation_group_id'
  | 'title'
>;

/** contract.md E5: the article set, with the status the event reports. */
export const articleSetOf = (row: SetRow, status: ArticleSet['status'] = row.status): ArticleSet => ({
  articleId: row.id,
  workspaceId: row.workspace_id,
  projectId: row.project_id,
  slug: row.slug,
  status,
  primaryLanguage: row.primary_language,
  translationGroupId: row.translation_group_id,
  title: row.title,
});

/**
 * article.updated for a PUBLISHED article with changes, else nothing (contract.md E3). A changed slug adds `previousSlug`.
 */
export function updatedEvents(
  row: SetRow,
  changed: readonly ArticleChange[],
  previousSlug: string = row.slug,
): NewEvent[] {
  if (row.status !== 'PUBLISHED' || changed.length === 0) return [];
  const renamed = changed.includes('slug') ? { previousSlug } : {};
  return [{ type: 'article.updated', data: { ...articleSetOf(row), changed, ...renamed } }];
}

/** article.unpublished of an article that was PUBLISHED (contract.md E6). */
export const unpublishedEvent = (row: SetRow, status: ArticleSet['status']): NewEvent => ({
  type: 'article.unpublished',
  data: {
    ...articleSetOf(row, status),
    previousStatus: 'PUBLISHED',
    reason: status === 'DELETED' ? 'deleted' : 'status_changed',
  },
});

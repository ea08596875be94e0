import type { ArticleStatus } from '../db/tables.ts';

/** The subscribable events, in the order of contract.md E. */
export const EVENT_TYPES = [
  'article.created',
  'article.generation.started',
  'article.generation.completed',
  'article.generation.failed',
  'article.approved',
  'article.rejected',
  'article.published',
  'article.updated',
  'article.unpublished',
  'image.generated',
  'image.regenerated',
  'credits.purchased',
  'credits.granted',
  'credits.consumed',
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

/** contract.md E5: the article set. */
export interface ArticleSet {
  readonly articleId: string;
  readonly workspaceId: string;
  readonly projectId: string;
  readonly slug: string;
  readonly status: ArticleStatus | 'DELETED';
  readonly primaryLanguage: string;
  readonly translationGroupId: string;
  readonly title: string;
}

export type ArticleChange =
  | 'title'
  | 'content'
  | 'slug'
  | 'categories'
  | 'metaTitle'
  | 'metaDescription'
  | 'targetKeywords'
  | 'secondaryKeywords';

/** The `data` of each event that this service emits (contract.md E1 to E10). */
export interface EventPayloads {
  'article.created': { articleId: string; projectId: string; title: string };
  'article.generation.started': { articleId: string; jobId: string; estimatedCredits: number };
  'article.generation.completed': { articleId: string; jobId: string; consumedCredits: number };
  'article.generation.failed': { articleId: string; jobId: string; error: string };
  'article.approved': { articleId: string; reviewId: string; previousStatus: ArticleStatus };
  'article.rejected': { articleId: string; reviewId: string; decision: 'rejected' | 'changes_requested' };
  'article.published': ArticleSet;
  'article.updated': ArticleSet & { changed: readonly ArticleChange[]; previousSlug?: string };
  'article.unpublished': ArticleSet & { previousStatus: 'PUBLISHED'; reason: 'status_changed' | 'deleted' };
  'image.generated': { articleId: string; assetId: string; type: 'hero' | 'inline' };
  'image.regenerated': { articleId: string; assetId: string; type?: 'hero' };
  'credits.purchased': { creditAmount: number; paymentEventId: string };
  'credits.granted': { creditAmount: number; paymentEventId: string };
  'credits.consumed': { articleId: string; jobId: string; credits: number };
}

/** An event to be stored: its type decides the shape of its data. */
export type NewEvent = {
  [Type in keyof EventPayloads]: { readonly type: Type; readonly data: EventPayloads[Type] };
}[keyof EventPayloads];

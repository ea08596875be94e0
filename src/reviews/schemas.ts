import type { Selectable } from 'kysely';
import { z } from 'zod';
import { ARTICLE_STATUSES, REVIEW_DECISIONS, type Tables } from '../db/tables.ts';
import { timestamp, trimmedText, uuid } from '../fields.ts';

export const reviewSchema = z
  .object({
    id: uuid,
    articleId: uuid,
    workspaceId: uuid,
    decision: z.enum(REVIEW_DECISIONS),
    previousStatus: z.enum(ARTICLE_STATUSES).meta({ description: "The article's status before." }),
    comment: z.string().meta({ description: 'Empty when none was given.' }),
    contentTag: z
      .string()
      .nullable()
      .meta({ description: 'The contentTag that If-Match named; null for a review without one.' }),
    createdAt: timestamp,
  })
  .meta({ id: 'Review' });

export type Review = z.infer<typeof reviewSchema>;

export const reviewBody = z.object({
  decision: z.enum(REVIEW_DECISIONS).meta({
    description: 'approved: APPROVED; rejected and changes_requested: CHANGES_REQUESTED.',
  }),
  comment: trimmedText(0, 5_000).optional(),
});

export const reviewColumns = [
  'id',
  'workspace_id',
  'article_id',
  'decision',
  'previous_status',
  'comment',
  'content_tag',
  'created_at',
] as const satisfies readonly (keyof Tables['reviews'])[];

type ReviewRow = Pick<Selectable<Tables['reviews']>, (typeof reviewColumns)[number]>;

/** The wire form of a review's row. */
export const toReview = (row: ReviewRow): Review => ({
  id: row.id,
  articleId: row.article_id,
  workspaceId: row.workspace_id,
  decision: row.decision,
  previousStatus: row.previous_status,
  comment: row.comment,
  contentTag: row.content_tag,
  createdAt: row.created_at.toISOString(),
});

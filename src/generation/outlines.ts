import { sql } from 'kysely';
import type { z } from 'zod';
import { articleChanged } from '../articles/queries.ts';
import { recordAudit } from '../audit/record.ts';
import { requirePermissions, type VerbContext } from '../context.ts';
import type { Queryable, Tx } from '../db/database.ts';
import { inTransaction } from '../db/transaction.ts';
import { invalid, notFound } from '../errors.ts';
import { etagOfJson, requireIfMatch, requireTag } from '../http/etag.ts';
import type { ArticleId } from '../ids.ts';
import {
  admitGeneration,
  type EmptyDraft,
  type Generated,
  type GenerationContext,
  lockEmptyDraft,
  queueGeneration,
  storedConfig,
} from './admit.ts';
import { bodyWords, type GenerationConfig } from './config.ts';
import { type Outline, sectionBounds } from './outline.ts';
import type { outlineResponse } from './schemas.ts';

export interface StoredOutline {
  readonly shown: z.output<typeof outlineResponse>;
  /** Covers the outline and the article's settings: both decide what an approved run writes, and its price. */
  readonly tag: string;
}

const COLUMNS = [
  sql<string | null>`outline::text`.as('outline'),
  sql<string | null>`generation_config::text`.as('generation_config'),
  'outline_edited as edited',
] as const;
type Row = Pick<EmptyDraft, 'outline' | 'generation_config' | 'edited'>;

const noOutline = () => notFound('outline');

/** @throws {ServiceError} RESOURCE_NOT_FOUND without an outline */
function toStored({ outline: json, generation_config, edited }: Row): StoredOutline {
  if (json === null) throw noOutline();
  // Validated when it was stored.
  const outline = JSON.parse(json) as Outline;
  const config: unknown = JSON.parse(generation_config ?? 'null');
  return { shown: { outline, edited }, tag: etagOfJson(JSON.stringify({ outline, config })) };
}

const findOutline = async (
  db: Queryable,
  { actor }: VerbContext,
  articleId: ArticleId,
): Promise<StoredOutline> =>
  toStored(
    await db
      .selectFrom('articles')
      .select(COLUMNS)
      .where('workspace_id', '=', actor.workspaceId)
      .where('id', '=', articleId)
      .executeTakeFirstOrThrow(noOutline),
  );

/**
 * Locks an article whose outline may be edited or approved.
 * @throws {ServiceError} RESOURCE_NOT_FOUND without an outline, in any status; CONFLICT as `lockEmptyDraft`
 */
async function lockOutline(
  tx: Tx,
  context: VerbContext,
  articleId: ArticleId,
): Promise<{ article: EmptyDraft; stored: StoredOutline }> {
  await findOutline(tx, context, articleId);
  const article = await lockEmptyDraft(tx, context, articleId);
  return { article, stored: toStored(article) };
}

/**
 * Reads the outline that an article was, or will be, generated from (articles.read).
 * @throws {ServiceError} RESOURCE_NOT_FOUND when it has none
 */
export async function readOutline(context: VerbContext, articleId: ArticleId): Promise<StoredOutline> {
  requirePermissions(context.actor, 'articles.read');
  return findOutline(context.db, context, articleId);
}

/** Settings may be newer than the outline, and have another wordCount: a model writes 2,000 words a section at most. */
function requireSections({ sections }: Outline, config: GenerationConfig, pointer: string): void {
  const words = bodyWords(config);
  const { least } = sectionBounds(words);
  if (sections.length >= least) return;
  throw invalid(pointer, `Expected at least ${least} sections in an outline for ${words} words.`);
}

/**
 * Replaces the outline of an article that is not written yet (articles.update). The same outline again changes nothing.
 * @param ifMatch the tag of the outline and settings that the change is based on; omitted: not checked
 * @throws {ServiceError} RESOURCE_NOT_FOUND without an outline; INVALID_REQUEST for too few sections; CONFLICT
 *   as `lockEmptyDraft`; PRECONDITION_FAILED
 */
export async function saveOutline(
  context: VerbContext,
  articleId: ArticleId,
  outline: Outline,
  ifMatch: string | undefined,
): Promise<StoredOutline> {
  requirePermissions(context.actor, 'articles.update');
  return inTransaction(context.db, async (tx) => {
    const { article, stored: before } = await lockOutline(tx, context, articleId);
    if (ifMatch !== undefined) requireTag(ifMatch, 'outline', (tag) => tag === before.tag);
    requireSections(outline, storedConfig(article.generation_config), '/outline/sections');
    const json = JSON.stringify(outline);
    const saved = await tx
      .updateTable('articles')
      .set({ outline: json, outline_edited: true, ...articleChanged })
      .where('id', '=', articleId)
      .where((eb) => eb('outline', '!=', eb.cast<never>(eb.val(json), 'jsonb')))
      .returning(COLUMNS)
      .executeTakeFirst();
    if (saved === undefined) return before;
    await recordAudit(tx, context, {
      action: 'generation.outline_updated',
      targetType: 'article',
      targetId: articleId,
      details: { sections: outline.sections.length },
    });
    return toStored(saved);
  });
}

/**
 * Queues the generation of an article from its outline and current settings (articles.generate). The run has a copy of
 * both. The tag covers both, so that the caller approves what they have read.
 * @param ifMatch the tag of the outline that was read
 * @throws {ServiceError} INVALID_REQUEST without it, with `*`, or for too few sections; RESOURCE_NOT_FOUND without an
 *   outline; CONFLICT as `lockEmptyDraft`; PRECONDITION_FAILED when it has changed; INSUFFICIENT_CREDITS, QUOTA_EXCEEDED
 */
export async function approveOutline(
  context: GenerationContext,
  input: {
    articleId: ArticleId;
    ifMatch: string | undefined;
    fresh: boolean;
    idempotencyKey: string | undefined;
  },
): Promise<Generated> {
  requirePermissions(context.actor, 'articles.generate');
  const { articleId, fresh, idempotencyKey } = input;
  const ifMatch = requireIfMatch(input.ifMatch, 'outline');
  return queueGeneration(context, idempotencyKey, async (tx) => {
    const { article, stored } = await lockOutline(tx, context, articleId);
    const config = storedConfig(article.generation_config);
    const { outline } = stored.shown;
    requireTag(ifMatch, 'outline', (tag) => tag === stored.tag);
    requireSections(outline, config, '/outline/sections');
    return admitGeneration(tx, context, {
      article,
      config,
      run: 'approved',
      outline,
      fresh,
      idempotencyKey,
      events: [],
      action: 'generation.outline_approved',
    });
  });
}

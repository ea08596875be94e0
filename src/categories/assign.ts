import { sql } from 'kysely';
import { recordOperation } from '../audit/operator-log.ts';
import { auditEntry, buildAudit } from '../audit/record.ts';
import { requirePermissions, type VerbContext } from '../context.ts';
import { prepareBoth, type Slots } from '../db/prepared.ts';
import { inTransaction } from '../db/transaction.ts';
import { type FieldIssue, notFound, ServiceError } from '../errors.ts';
import { buildAuditedUpdates, notifyOfUpdates } from '../events/article-updates.ts';
import type { ArticleId, CategoryId, WorkspaceId } from '../ids.ts';
import { currentTraceparent } from '../tracing/spans.ts';
import { REDUCED } from './queries.ts';
import type { ReducedCategory } from './schemas.ts';

export interface AssignCategoriesInput {
  readonly articleId: ArticleId;
  /** In the wanted order, up to 50 with repeats; the first occurrence of an id counts. */
  readonly categoryIds: readonly CategoryId[];
}

/**
 * Replaces an article's categories (contract.md C14 to C16), whatever its status and its jobs. A new order of the same
 * set is stored and emits nothing.
 * @returns the categories in the order assigned
 * @throws {ServiceError} RESOURCE_NOT_FOUND for the article; INVALID_REQUEST naming each id that is not a category of
 *   its workspace, including one deleted concurrently
 */
export async function assignCategories(
  context: VerbContext,
  { articleId, categoryIds }: AssignCategoriesInput,
): Promise<ReducedCategory[]> {
  const { db, actor } = context;
  requirePermissions(actor, 'articles.update');
  const { workspaceId } = actor;
  const wanted = [...new Set(categoryIds)];
  return inTransaction(db, async (tx) => {
    const named = { workspaceId, articleId, wanted };
    const [[article], [held]] = await lockAndRead(tx, named);
    if (article === undefined) throw notFound('article');
    requireAll(held?.found ?? [], categoryIds);
    const before = held?.carried ?? [];
    const audit = {
      action: 'articles.categories_assigned',
      targetType: 'article',
      targetId: articleId,
      details: { before, after: wanted },
    };
    if (actor.kind === 'operator') await recordOperation(tx, context, audit);
    const values = { ...named, ...auditEntry(context, audit) };
    const isSetChanged = new Set(wanted).symmetricDifference(new Set(before)).size > 0;
    if (!isSetChanged) {
      const [[assigned]] = await replaceAndAudit(tx, values);
      return assigned?.categories ?? [];
    }
    const changed = ['categories'] as const;
    const updates = { ...values, changed, articleIds: [articleId], traceparent: currentTraceparent() };
    const [[assigned], [stored]] = await replaceAndAnnounce(tx, updates);
    notifyOfUpdates(tx, stored);
    return assigned?.categories ?? [];
  });
}

/** @throws {ServiceError} INVALID_REQUEST naming each id that was not found */
function requireAll(rows: readonly CategoryId[], given: readonly CategoryId[]): void {
  const found = new Set(rows);
  const issues = given.flatMap((id, index): FieldIssue[] =>
    found.has(id) ? [] : [{ pointer: `/categoryIds/${index}`, detail: 'No such category in the workspace.' }],
  );
  if (issues.length === 0) return;
  throw new ServiceError('INVALID_REQUEST', "Every id must be a category of the article's workspace.", {
    issues,
  });
}

type Named = Readonly<{ workspaceId: WorkspaceId; articleId: ArticleId; wanted: readonly CategoryId[] }>;

/**
 * Serialises assignments to one article; references to the article are not blocked. Then the categories are locked by id,
 * before their links are written: a concurrent deletion waits, or they are already gone; and what the article carried is read.
 */
const lockAndRead = prepareBoth(
  ['lock_article_to_assign', 'lock_assigned_categories'],
  (db, slot: Slots<Named>) =>
    db
      .selectFrom('articles')
      .select('id')
      .where('workspace_id', '=', slot('workspaceId'))
      .where('id', '=', slot('articleId'))
      .forNoKeyUpdate(),
  (_db, slot: Slots<Named>) => sql<{ found: CategoryId[]; carried: CategoryId[] }>`
    WITH held AS MATERIALIZED (
      SELECT id FROM categories WHERE workspace_id = ${slot('workspaceId')} AND id = ANY (${slot('wanted')}::uuid[])
      ORDER BY id FOR KEY SHARE
    )
    SELECT ARRAY(SELECT id FROM held) AS found, ARRAY(
      SELECT category_id FROM article_categories
      WHERE workspace_id = ${slot('workspaceId')} AND article_id = ${slot('articleId')}
      ORDER BY position, category_id) AS carried`,
);

/** Replaces the links of a locked article, and returns the categories as they are named now. */
const buildReplace = (_db: unknown, slot: Slots<Named>) => sql<{ categories: ReducedCategory[] }>`
  WITH dropped AS (
    DELETE FROM article_categories
    WHERE workspace_id = ${slot('workspaceId')} AND article_id = ${slot('articleId')}
      AND category_id <> ALL (${slot('wanted')}::uuid[])
  ), kept AS (
    INSERT INTO article_categories (workspace_id, article_id, category_id, position)
    SELECT ${slot('workspaceId')}::uuid, ${slot('articleId')}::uuid, id, place - 1
    FROM unnest(${slot('wanted')}::uuid[]) WITH ORDINALITY AS given (id, place)
    ON CONFLICT (article_id, category_id) DO UPDATE SET position = excluded.position
  )
  SELECT coalesce(json_agg(${REDUCED} ORDER BY place), '[]') AS categories
  FROM unnest(${slot('wanted')}::uuid[]) WITH ORDINALITY AS given (id, place)
  JOIN categories ON categories.id = given.id AND categories.workspace_id = ${slot('workspaceId')}`;

const replaceAndAnnounce = prepareBoth(
  ['replace_assigned', 'record_audited_updates'],
  buildReplace,
  buildAuditedUpdates,
  true,
);
const replaceAndAudit = prepareBoth(
  ['replace_assigned', 'record_assignment'],
  buildReplace,
  buildAudit,
  true,
);

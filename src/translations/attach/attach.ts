import { sql } from 'kysely';
import { readAssets } from '../../articles/images.ts';
import { checkLinksOf } from '../../articles/links/store.ts';
import { lockArticle, ownedByJob, whereAllowed } from '../../articles/lock.ts';
import { articleChanged } from '../../articles/queries.ts';
import { recordAudit } from '../../audit/record.ts';
import { requirePermissions, type VerbContext } from '../../context.ts';
import type { Tx } from '../../db/database.ts';
import { uniqueViolation } from '../../db/errors.ts';
import { CHANGED, retryingChanged } from '../../db/retrying-changed.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { PairedSides } from '../../document/tasks/attach.ts';
import { conflict, invalid, notFound, type ServiceError } from '../../errors.ts';
import type { ArticleId, TranslationGroupId, WorkspaceId } from '../../ids.ts';
import { JsonText, writeJson } from '../../json-text.ts';
import { doTask } from '../../threads/pool.ts';
import { dropProvenance, keepProvenance } from '../provenance.ts';
import { readTexts, toSnapshot } from '../read-source.ts';
import { stateTag } from '../refresh/tag.ts';
import { readVersion } from '../refresh/version.ts';
import { failing, isAlone, isNotRefreshed, refreshRunning } from './guards.ts';

export interface AttachTranslation {
  readonly sourceId: ArticleId;
  /** The article that becomes a version of the source. */
  readonly articleId: ArticleId;
  /** Pairs and checks, and writes nothing. */
  readonly dryRun?: boolean | undefined;
}

/** How the two belong together: lists of units and their pairs as JSON. */
export interface AttachedTranslation {
  readonly pairs: JsonText;
  readonly onlyInSource: JsonText;
  readonly onlyInVersion: JsonText;
  /** The tag of the version's state, for decisions; null after a dry run. */
  readonly tag: string | null;
}

const languageTaken = (): ServiceError =>
  conflict(
    'The translation group already has a version in the language of this article.',
    'translation_exists',
  );

/**
 * Makes an article a version of a source (articles.update; contract.md T67 to T70): it joins the source's group, and its
 * blocks are paired with the source's. Its text, slug, categories and status stay, and no event is sent.
 * @throws {ServiceError} RESOURCE_NOT_FOUND; INVALID_REQUEST for the source itself, an article of another project, and a
 *   source without content; CONFLICT `job_running`, `status`, `refresh_running`, `has_versions` or `translation_exists`;
 *   SERVICE_UNAVAILABLE when one of them changed each time
 */
export async function attachTranslation(
  context: VerbContext,
  input: AttachTranslation,
): Promise<AttachedTranslation> {
  requirePermissions(context.actor, 'articles.update');
  if (input.articleId === input.sourceId) {
    throw invalid('/articleId', 'An article cannot be a translation of itself.');
  }
  return retryingChanged(() => attempt(context, input)).catch((error: unknown) => {
    // Another version came into the group at the same moment.
    throw uniqueViolation(error) === 'articles_group_language_key' ? languageTaken() : error;
  });
}

async function attempt(
  context: VerbContext,
  { sourceId, articleId, dryRun = false }: AttachTranslation,
): Promise<AttachedTranslation | typeof CHANGED> {
  const { db, actor } = context;
  const { workspaceId } = actor;
  const id = { workspaceId, articleId };
  const before = await stateTag(db, id, sourceId);
  const texts = await readTexts(db, workspaceId, sourceId).executeTakeFirst();
  const version = await readVersion(db, id);
  if (texts === undefined || version === undefined) throw notFound('article');
  if (version.row.project_id !== texts.project_id) {
    throw invalid('/articleId', 'The article belongs to another project.');
  }
  if (texts.is_empty) throw invalid('', 'The source has no content yet.');
  const source = writeJson(toSnapshot(texts, await readAssets(db, workspaceId, sourceId)));
  const paired = await doTask('attach', source, version.content);
  return inTransaction(db, async (tx) => {
    const groupId = await lockBoth(tx, workspaceId, sourceId, articleId);
    if ((await stateTag(tx, id, sourceId)) !== before) return CHANGED;
    if (dryRun || !(await join(tx, articleId, groupId))) {
      await requireAttachable(tx, articleId, groupId);
      if (!dryRun) throw ownedByJob();
      return toAttached(paired, null);
    }
    await dropProvenance(tx, articleId);
    await keepProvenance(tx, { id: articleId, workspace_id: workspaceId }, sourceId, paired.decided);
    await checkLinksOf(tx, context, articleId);
    await recordAudit(tx, context, {
      action: 'translations.attached',
      targetType: 'article',
      targetId: articleId,
      details: { sourceArticleId: sourceId, pairs: paired.count },
    });
    return toAttached(paired, await stateTag(tx, id, sourceId));
  });
}

const toAttached = (
  { pairs, onlyInSource, onlyInVersion }: PairedSides,
  tag: string | null,
): AttachedTranslation => ({
  pairs: new JsonText(pairs),
  onlyInSource: new JsonText(onlyInSource),
  onlyInVersion: new JsonText(onlyInVersion),
  tag,
});

/**
 * Locks both articles, in the order of their ids: two may be attached to each other at the same moment.
 * @returns the source's group
 */
async function lockBoth(
  tx: Tx,
  workspaceId: WorkspaceId,
  sourceId: ArticleId,
  articleId: ArticleId,
): Promise<TranslationGroupId> {
  const lockSource = async () => {
    const source = await tx
      .selectFrom('articles')
      .select('translation_group_id')
      .where('workspace_id', '=', workspaceId)
      .where('id', '=', sourceId)
      .forShare()
      .executeTakeFirstOrThrow(() => notFound('article'));
    return source.translation_group_id;
  };
  const lockVersion = () => lockArticle(tx, workspaceId, articleId, 'attach');
  if (articleId < sourceId) {
    await lockVersion();
    return lockSource();
  }
  const groupId = await lockSource();
  await lockVersion();
  return groupId;
}

const isFreeIn = (groupId: TranslationGroupId) => sql<boolean>`NOT EXISTS (
  SELECT FROM articles AS member WHERE member.translation_group_id = ${groupId}
    AND member.primary_language = articles.primary_language)`;

/** Moves the locked article into the group. @returns false when a guard refuses it */
async function join(tx: Tx, articleId: ArticleId, groupId: TranslationGroupId): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('articles')
    .set({ translation_group_id: groupId, is_translation: true, ...articleChanged })
    .where('id', '=', articleId)
    .where(whereAllowed('attach'))
    .where(isAlone)
    .where(isNotRefreshed)
    .where(isFreeIn(groupId))
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** @throws {ServiceError} CONFLICT `has_versions`, `refresh_running` or `translation_exists` */
async function requireAttachable(tx: Tx, articleId: ArticleId, groupId: TranslationGroupId): Promise<void> {
  const refused = await failing(tx, articleId, { isAlone, isNotRefreshed, isFree: isFreeIn(groupId) });
  if (refused.has('isAlone')) {
    throw conflict(
      'The article is in a translation group with other versions. Detach it, or its versions, first.',
      'has_versions',
    );
  }
  if (refused.has('isNotRefreshed')) throw refreshRunning();
  if (refused.has('isFree')) throw languageTaken();
}

import { sql } from 'kysely';
import { recordAudit } from '../../audit/record.ts';
import { requirePermissions, type VerbContext } from '../../context.ts';
import { clockTimestamp } from '../../db/clock.ts';
import type { Tx } from '../../db/database.ts';
import { inLivingProject } from '../../db/living-projects.ts';
import { inTransaction } from '../../db/transaction.ts';
import { notFound } from '../../errors.ts';
import type { ArticleId, MemoryEntryId } from '../../ids.ts';
import { hashOf } from './deleted.ts';
import { originOf } from './list.ts';

/** Deletions that a version keeps in mind. */
const KEPT = 5_000;

/**
 * Deletes an entry of the memory (translations.configure). The audit entry quotes no text. The version keeps the hash of
 * its text, so that the same text does not come back (contract.md V54).
 * @throws {ServiceError} RESOURCE_NOT_FOUND
 */
export async function deleteEntry(context: VerbContext, id: MemoryEntryId): Promise<void> {
  const { db, actor } = context;
  requirePermissions(actor, 'translations.configure');
  await inTransaction(db, async (tx) => {
    const { layer, ...entry } = await tx
      .updateTable('translation_memory as memory')
      .set({
        deleted_hash: hashOf('memory.target_text'),
        source_text: '',
        target_text: '',
        used_at: null,
        written_at: clockTimestamp,
      })
      .where('memory.workspace_id', '=', actor.workspaceId)
      .where('memory.id', '=', id)
      .where('memory.deleted_hash', 'is', null)
      .where(inLivingProject(actor.workspaceId, 'memory.project_id'))
      .returning(['memory.layer', 'memory.article_id', 'memory.target_language'])
      .executeTakeFirstOrThrow(() => notFound('entry'));
    await forgetOldest(tx, entry.article_id);
    await recordAudit(tx, context, {
      action: 'translation_memory.entry_deleted',
      targetType: 'translation_memory_entry',
      targetId: id,
      details: { origin: originOf(layer), language: entry.target_language, articleId: entry.article_id },
    });
  });
}

const forgetOldest = (tx: Tx, articleId: ArticleId) =>
  sql`
    DELETE FROM translation_memory WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM translation_memory WHERE article_id = ${articleId} AND deleted_hash IS NOT NULL
      ORDER BY written_at DESC, id OFFSET ${KEPT}))`.execute(tx);

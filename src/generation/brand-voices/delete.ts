import { recordAudit } from '../../audit/record.ts';
import { requirePermissions, type VerbContext } from '../../context.ts';
import { inTransaction } from '../../db/transaction.ts';
import { notFound } from '../../errors.ts';
import type { BrandVoiceId } from '../../ids.ts';

/**
 * Deletes a voice (generation.configure; contract.md G52). Projects whose default it was have none then.
 * @throws {ServiceError} RESOURCE_NOT_FOUND
 */
export async function deleteBrandVoice(context: VerbContext, id: BrandVoiceId): Promise<void> {
  const { db, actor } = context;
  requirePermissions(actor, 'generation.configure');
  await inTransaction(db, async (tx) => {
    const voice = await tx
      .deleteFrom('brand_voices')
      .where('workspace_id', '=', actor.workspaceId)
      .where('id', '=', id)
      .returning('name')
      .executeTakeFirst();
    if (voice === undefined) throw notFound('brand voice');
    await recordAudit(tx, context, {
      action: 'brand_voices.deleted',
      targetType: 'brand_voice',
      targetId: id,
      details: { name: voice.name },
    });
  });
}

import type { z } from 'zod';
import { recordAudit } from '../../audit/record.ts';
import { applyChanges } from '../../changes.ts';
import { requirePermissions, type VerbContext } from '../../context.ts';
import { clockTimestamp } from '../../db/clock.ts';
import { lockWorkspace } from '../../db/lock-workspace.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { BrandVoiceId } from '../../ids.ts';
import { nameKey } from '../../name-key.ts';
import { rethrowNameTaken, VOICES } from '../named-texts.ts';
import { clearDefault, noSuchVoice, selectVoice, toVoice, VOICE_COLUMNS } from './queries.ts';
import type { BrandVoice, updateBrandVoiceBody } from './schemas.ts';

/**
 * Changes the fields that are given (generation.configure; contract.md G50).
 * @throws {ServiceError} RESOURCE_NOT_FOUND; CONFLICT `name_taken`
 */
export async function updateBrandVoice(
  context: VerbContext,
  id: BrandVoiceId,
  changes: z.output<typeof updateBrandVoiceBody>,
): Promise<BrandVoice> {
  const { db, actor } = context;
  requirePermissions(actor, 'generation.configure');
  return inTransaction(db, async (tx) => {
    if (changes.isDefault === true) await lockWorkspace(tx, actor.workspaceId);
    const row = await selectVoice(tx, actor.workspaceId, id).forUpdate().executeTakeFirstOrThrow(noSuchVoice);
    const { after: wanted, changed } = applyChanges(toVoice(row), changes);
    if (changed.length === 0) return wanted;
    const { name, instructions, isDefault } = wanted;
    if (isDefault && !row.is_default) await clearDefault(tx, actor.workspaceId);
    const after = await tx
      .updateTable('brand_voices')
      .set({
        name,
        name_key: nameKey(name),
        instructions,
        is_default: isDefault,
        updated_at: clockTimestamp,
      })
      .where('id', '=', id)
      .returning(VOICE_COLUMNS)
      .executeTakeFirstOrThrow();
    await recordAudit(tx, context, {
      action: 'brand_voices.updated',
      targetType: 'brand_voice',
      targetId: id,
      details: { name, isDefault, changed },
    });
    return toVoice(after);
  }).catch(rethrowNameTaken(VOICES));
}

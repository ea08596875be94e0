import type { z } from 'zod';
import { recordAudit } from '../../audit/record.ts';
import { requirePermissions, type VerbContext } from '../../context.ts';
import { lockWorkspace } from '../../db/lock-workspace.ts';
import { inTransaction } from '../../db/transaction.ts';
import { type BrandVoiceId, newId } from '../../ids.ts';
import { nameKey } from '../../name-key.ts';
import { requireRoom, rethrowNameTaken, VOICES } from '../named-texts.ts';
import { clearDefault, toVoice, VOICE_COLUMNS } from './queries.ts';
import type { BrandVoice, createBrandVoiceBody } from './schemas.ts';

/**
 * Adds a voice to the workspace (generation.configure; contract.md G50).
 * @throws {ServiceError} CONFLICT `name_taken`, or `brand_voice_limit` when there are 100
 */
export async function createBrandVoice(
  context: VerbContext,
  { name, instructions, isDefault }: z.output<typeof createBrandVoiceBody>,
): Promise<BrandVoice> {
  const { db, actor } = context;
  requirePermissions(actor, 'generation.configure');
  const { workspaceId } = actor;
  return inTransaction(db, async (tx) => {
    await lockWorkspace(tx, workspaceId);
    await requireRoom(tx, workspaceId, VOICES);
    if (isDefault) await clearDefault(tx, workspaceId);
    const row = await tx
      .insertInto('brand_voices')
      .values({
        id: newId<BrandVoiceId>(),
        workspace_id: workspaceId,
        name,
        name_key: nameKey(name),
        instructions,
        is_default: isDefault,
      })
      .returning(VOICE_COLUMNS)
      .executeTakeFirstOrThrow();
    await recordAudit(tx, context, {
      action: 'brand_voices.created',
      targetType: 'brand_voice',
      targetId: row.id,
      details: { name, isDefault },
    });
    return toVoice(row);
  }).catch(rethrowNameTaken(VOICES));
}

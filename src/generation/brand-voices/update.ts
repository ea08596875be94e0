import { sql } from 'kysely';
import type { z } from 'zod';
import { recordAudit } from '../../audit/record.ts';
import { requirePermissions, type VerbContext } from '../../context.ts';
import { inTransaction } from '../../db/transaction.ts';
import { notFound } from '../../errors.ts';
import type { BrandVoiceId } from '../../ids.ts';
import { nameKey } from '../../name-key.ts';
import { lockWorkspace, rethrowNameTaken, VOICES } from '../named-texts.ts';
import { clearDefault, toVoice, VOICE_COLUMNS } from './queries.ts';
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
    const before = await tx
      .selectFrom('brand_voices')
      .select(VOICE_COLUMNS)
      .where('workspace_id', '=', actor.workspaceId)
      .where('id', '=', id)
      .forUpdate()
      .executeTakeFirst();
    if (before === undefined) throw notFound('brand voice');
    const name = changes.name ?? before.name;
    const instructions = changes.instructions ?? before.instructions;
    const isDefault = changes.isDefault ?? before.is_default;
    const changed = [
      ...(name === before.name ? [] : ['name']),
      ...(instructions === before.instructions ? [] : ['instructions']),
      ...(isDefault === before.is_default ? [] : ['isDefault']),
    ];
    if (changed.length === 0) return toVoice(before);
    if (isDefault && !before.is_default) await clearDefault(tx, actor.workspaceId);
    const after = await tx
      .updateTable('brand_voices')
      .set({
        name,
        name_key: nameKey(name),
        instructions,
        is_default: isDefault,
        updated_at: sql<Date>`clock_timestamp()`,
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

import type { z } from 'zod';
import { recordAudit } from '../../audit/record.ts';
import { applyChanges } from '../../changes.ts';
import { requirePermissions, type VerbContext } from '../../context.ts';
import { clockTimestamp } from '../../db/clock.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { ContentTemplateId } from '../../ids.ts';
import { nameKey } from '../../name-key.ts';
import { rethrowNameTaken, TEMPLATES } from '../named-texts.ts';
import {
  noSuchTemplate,
  refuseBuiltIn,
  refuseBuiltInName,
  selectTemplate,
  TEMPLATE_COLUMNS,
  toTemplate,
} from './queries.ts';
import type { ContentTemplate, updateContentTemplateBody } from './schemas.ts';

/**
 * Changes the fields that are given (generation.configure; contract.md G54).
 * @throws {ServiceError} RESOURCE_NOT_FOUND; CONFLICT `built_in_template`, or `name_taken`, also by a built-in one
 */
export async function updateContentTemplate(
  context: VerbContext,
  id: ContentTemplateId,
  changes: z.output<typeof updateContentTemplateBody>,
): Promise<ContentTemplate> {
  const { db, actor } = context;
  requirePermissions(actor, 'generation.configure');
  refuseBuiltIn(id);
  return inTransaction(db, async (tx) => {
    const row = await selectTemplate(tx, actor.workspaceId, id)
      .forUpdate()
      .executeTakeFirstOrThrow(noSuchTemplate);
    const { after: wanted, changed } = applyChanges(toTemplate(row), changes);
    if (changed.length === 0) return wanted;
    const { name, text } = wanted;
    if (name !== row.name) refuseBuiltInName(name);
    const after = await tx
      .updateTable('content_templates')
      .set({ name, name_key: nameKey(name), text, updated_at: clockTimestamp })
      .where('id', '=', id)
      .returning(TEMPLATE_COLUMNS)
      .executeTakeFirstOrThrow();
    await recordAudit(tx, context, {
      action: 'content_templates.updated',
      targetType: 'content_template',
      targetId: id,
      details: { name, changed },
    });
    return toTemplate(after);
  }).catch(rethrowNameTaken(TEMPLATES));
}

import { sql } from 'kysely';
import type { z } from 'zod';
import { recordAudit } from '../../audit/record.ts';
import { requirePermissions, type VerbContext } from '../../context.ts';
import { inTransaction } from '../../db/transaction.ts';
import { notFound } from '../../errors.ts';
import type { ContentTemplateId } from '../../ids.ts';
import { nameKey } from '../../name-key.ts';
import { rethrowNameTaken, TEMPLATES } from '../named-texts.ts';
import { refuseBuiltIn, refuseBuiltInName, TEMPLATE_COLUMNS, toTemplate } from './queries.ts';
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
    const before = await tx
      .selectFrom('content_templates')
      .select(TEMPLATE_COLUMNS)
      .where('workspace_id', '=', actor.workspaceId)
      .where('id', '=', id)
      .forUpdate()
      .executeTakeFirst();
    if (before === undefined) throw notFound('content template');
    const name = changes.name ?? before.name;
    const text = changes.text ?? before.text;
    const changed = [...(name === before.name ? [] : ['name']), ...(text === before.text ? [] : ['text'])];
    if (changed.length === 0) return toTemplate(before);
    if (name !== before.name) refuseBuiltInName(name);
    const after = await tx
      .updateTable('content_templates')
      .set({ name, name_key: nameKey(name), text, updated_at: sql<Date>`clock_timestamp()` })
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

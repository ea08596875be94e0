import { recordAudit } from '../../audit/record.ts';
import { requirePermissions, type VerbContext } from '../../context.ts';
import { inTransaction } from '../../db/transaction.ts';
import { notFound } from '../../errors.ts';
import type { ContentTemplateId } from '../../ids.ts';
import { refuseBuiltIn } from './queries.ts';

/**
 * Deletes a template of the workspace (generation.configure; contract.md G54).
 * @throws {ServiceError} RESOURCE_NOT_FOUND; CONFLICT `built_in_template`
 */
export async function deleteContentTemplate(context: VerbContext, id: ContentTemplateId): Promise<void> {
  const { db, actor } = context;
  requirePermissions(actor, 'generation.configure');
  refuseBuiltIn(id);
  await inTransaction(db, async (tx) => {
    const template = await tx
      .deleteFrom('content_templates')
      .where('workspace_id', '=', actor.workspaceId)
      .where('id', '=', id)
      .returning('name')
      .executeTakeFirst();
    if (template === undefined) throw notFound('content template');
    await recordAudit(tx, context, {
      action: 'content_templates.deleted',
      targetType: 'content_template',
      targetId: id,
      details: { name: template.name },
    });
  });
}

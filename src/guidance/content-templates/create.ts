import type { z } from 'zod';
import { recordAudit } from '../../audit/record.ts';
import { requirePermissions, type VerbContext } from '../../context.ts';
import { lockWorkspace } from '../../db/lock-workspace.ts';
import { inTransaction } from '../../db/transaction.ts';
import { type ContentTemplateId, newId } from '../../ids.ts';
import { nameKey } from '../../name-key.ts';
import { requireRoom, rethrowNameTaken, TEMPLATES } from '../named-texts.ts';
import { refuseBuiltInName, TEMPLATE_COLUMNS, toTemplate } from './queries.ts';
import type { ContentTemplate, createContentTemplateBody } from './schemas.ts';

/**
 * Adds a template to the workspace (generation.configure; contract.md G54).
 * @throws {ServiceError} CONFLICT `name_taken`, also by a built-in one, or `content_template_limit` when there are 100
 */
export async function createContentTemplate(
  context: VerbContext,
  { name, text }: z.output<typeof createContentTemplateBody>,
): Promise<ContentTemplate> {
  const { db, actor } = context;
  requirePermissions(actor, 'generation.configure');
  refuseBuiltInName(name);
  return inTransaction(db, async (tx) => {
    await lockWorkspace(tx, actor.workspaceId);
    await requireRoom(tx, actor.workspaceId, TEMPLATES);
    const row = await tx
      .insertInto('content_templates')
      .values({
        id: newId<ContentTemplateId>(),
        workspace_id: actor.workspaceId,
        name,
        name_key: nameKey(name),
        text,
      })
      .returning(TEMPLATE_COLUMNS)
      .executeTakeFirstOrThrow();
    await recordAudit(tx, context, {
      action: 'content_templates.created',
      targetType: 'content_template',
      targetId: row.id,
      details: { name },
    });
    return toTemplate(row);
  }).catch(rethrowNameTaken(TEMPLATES));
}

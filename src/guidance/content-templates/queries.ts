import type { Queryable } from '../../db/database.ts';
import type { ContentTemplateId, WorkspaceId } from '../../ids.ts';
import { builtInTemplate } from './built-in.ts';

/**
 * The text that a generation is built by (contract.md G55): of a built-in template or one of the workspace. Null for any
 * other id, and without one.
 */
export async function templateFor(
  db: Queryable,
  wanted: { readonly workspaceId: WorkspaceId; readonly contentTemplateId?: string | null | undefined },
): Promise<string | null> {
  const { workspaceId, contentTemplateId } = wanted;
  if (contentTemplateId === null || contentTemplateId === undefined) return null;
  const builtIn = builtInTemplate(contentTemplateId);
  if (builtIn !== undefined) return builtIn.text;
  const row = await db
    .selectFrom('content_templates')
    .select('text')
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', contentTemplateId as ContentTemplateId)
    .executeTakeFirst();
  return row?.text ?? null;
}

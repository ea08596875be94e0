import type { Queryable } from '../../db/database.ts';
import type { ContentTemplateId, WorkspaceId } from '../../ids.ts';
import { builtInTemplate } from './built-in.ts';

/**
 * The template text of a generation (contract.md G55): built in or the workspace's. Null for any other id, or none.
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

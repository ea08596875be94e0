import type { Selectable } from 'kysely';
import { requirePermissions, type VerbContext } from '../../context.ts';
import type { Queryable } from '../../db/database.ts';
import type { Tables } from '../../db/tables.ts';
import { conflict, notFound } from '../../errors.ts';
import { iso } from '../../fields.ts';
import type { ContentTemplateId, WorkspaceId } from '../../ids.ts';
import { nameKey } from '../../name-key.ts';
import { nameTaken, TEMPLATES } from '../named-texts.ts';
import { BUILT_IN_TEMPLATES, type BuiltInTemplate, builtInTemplate } from './built-in.ts';
import type { ContentTemplate, ContentTemplateSummary } from './schemas.ts';

const SUMMARY = ['id', 'name', 'created_at', 'updated_at'] as const;
export const TEMPLATE_COLUMNS = [...SUMMARY, 'text'] as const;

type Row = Selectable<Tables['content_templates']>;

const toSummary = (row: Pick<Row, (typeof SUMMARY)[number]>): ContentTemplateSummary => ({
  id: row.id,
  name: row.name,
  builtIn: false,
  createdAt: iso(row.created_at),
  updatedAt: iso(row.updated_at),
});

/** The wire form of a template's row. */
export const toTemplate = (row: Pick<Row, (typeof TEMPLATE_COLUMNS)[number]>): ContentTemplate => ({
  ...toSummary(row),
  text: row.text,
});

const summaryOfBuiltIn = ({ id, name }: BuiltInTemplate): ContentTemplateSummary => ({
  id,
  name,
  builtIn: true,
  createdAt: null,
  updatedAt: null,
});

export const noSuchTemplate = () => notFound('content template');

/** The row of one template of the workspace's own. */
export const selectTemplate = (db: Queryable, workspaceId: WorkspaceId, id: ContentTemplateId) =>
  db
    .selectFrom('content_templates')
    .select(TEMPLATE_COLUMNS)
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id);

/** The built-in templates, then those of the workspace by name, without their texts (articles.read). */
export async function listContentTemplates({ db, actor }: VerbContext): Promise<ContentTemplateSummary[]> {
  requirePermissions(actor, 'articles.read');
  const rows = await db
    .selectFrom('content_templates')
    .select(SUMMARY)
    .where('workspace_id', '=', actor.workspaceId)
    .orderBy('name')
    .execute();
  return [...BUILT_IN_TEMPLATES.map(summaryOfBuiltIn), ...rows.map(toSummary)];
}

/**
 * One template, built-in or of the workspace (articles.read).
 * @throws {ServiceError} RESOURCE_NOT_FOUND
 */
export async function readContentTemplate(
  { db, actor }: VerbContext,
  id: ContentTemplateId,
): Promise<ContentTemplate> {
  requirePermissions(actor, 'articles.read');
  const builtIn = builtInTemplate(id);
  if (builtIn !== undefined) return { ...summaryOfBuiltIn(builtIn), text: builtIn.text };
  return toTemplate(await selectTemplate(db, actor.workspaceId, id).executeTakeFirstOrThrow(noSuchTemplate));
}

/** @throws {ServiceError} CONFLICT `built_in_template` */
export function refuseBuiltIn(id: ContentTemplateId): void {
  if (builtInTemplate(id) === undefined) return;
  throw conflict('A built-in template can be neither edited nor deleted.', 'built_in_template');
}

const builtInNames = new Set(BUILT_IN_TEMPLATES.map(({ name }) => nameKey(name)));

/** @throws {ServiceError} CONFLICT `name_taken` for the name of a built-in template */
export function refuseBuiltInName(name: string): void {
  if (builtInNames.has(nameKey(name))) throw nameTaken(TEMPLATES);
}

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

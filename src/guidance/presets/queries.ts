import { sql } from 'kysely';
import { requirePermissions, type VerbContext } from '../../context.ts';
import type { Queryable } from '../../db/database.ts';
import { notFound } from '../../errors.ts';
import type { WorkspaceId } from '../../ids.ts';
import type { Preset, PresetKind, PresetRow, PresetSummary, PresetTable, SummaryRow } from './kind.ts';

/** The built-in presets, then those of the workspace by name, without their texts (articles.read). */
export async function listPresets<Table extends PresetTable>(
  { db, actor }: VerbContext,
  { table, summaryColumns, toSummary, builtIn }: PresetKind<Table>,
): Promise<PresetSummary<Table>[]> {
  requirePermissions(actor, 'articles.read');
  const { rows } = await sql<SummaryRow<Table>>`
    SELECT ${sql.join(summaryColumns.map((column) => sql.ref(column)))} FROM ${sql.table(table)}
    WHERE workspace_id = ${actor.workspaceId} ORDER BY name`.execute(db);
  return [...builtIn.map(({ summary }) => summary), ...rows.map(toSummary)];
}

/**
 * One preset, built-in or of the workspace (articles.read).
 * @throws {ServiceError} RESOURCE_NOT_FOUND
 */
export async function readPreset<Table extends PresetTable>(
  { db, actor }: VerbContext,
  kind: PresetKind<Table>,
  id: string,
): Promise<Preset<Table>> {
  requirePermissions(actor, 'articles.read');
  const builtIn = kind.builtIn.find(({ one }) => one.id === id);
  return builtIn?.one ?? findPreset(db, kind, actor.workspaceId, id);
}

/**
 * One preset of the workspace.
 * @throws {ServiceError} RESOURCE_NOT_FOUND
 */
export async function findPreset<Table extends PresetTable>(
  db: Queryable,
  { table, toPreset, noun }: PresetKind<Table>,
  workspaceId: WorkspaceId,
  id: string,
): Promise<Preset<Table>> {
  const { rows } = await sql<PresetRow<Table>>`
    SELECT * FROM ${sql.table(table)} WHERE workspace_id = ${workspaceId} AND id = ${id}`.execute(db);
  if (rows[0] === undefined) throw notFound(noun);
  return toPreset(rows[0]);
}

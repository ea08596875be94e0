import { sql } from 'kysely';
import { recordAudit } from '../../audit/record.ts';
import { requirePermissions, type VerbContext } from '../../context.ts';
import { countRows } from '../../db/count-rows.ts';
import { lockWorkspace } from '../../db/lock-workspace.ts';
import { inTransaction } from '../../db/transaction.ts';
import { newId } from '../../ids.ts';
import { nameKey } from '../../name-key.ts';
import { MAX_PRESETS, type Preset, type PresetKind, type PresetSettings, type PresetTable } from './kind.ts';
import { findPreset } from './queries.ts';
import { refuseBuiltInName, rethrowNameTaken } from './rules.ts';

/**
 * Adds a preset to the workspace (generation.configure; contract.md G50, G54).
 * @throws {ServiceError} CONFLICT `name_taken`, also by a built-in one, or `full` of the kind
 */
export async function createPreset<Table extends PresetTable>(
  context: VerbContext,
  kind: PresetKind<Table>,
  settings: PresetSettings<Table>,
): Promise<Preset<Table>> {
  const { db, actor } = context;
  requirePermissions(actor, 'generation.configure');
  const { table, target } = kind;
  const { workspaceId } = actor;
  const { name } = settings;
  refuseBuiltInName(kind, name);
  return inTransaction(db, async (tx) => {
    await lockWorkspace(tx, actor);
    const own = sql`(SELECT FROM ${sql.table(table)} WHERE workspace_id = ${workspaceId})`;
    if ((await countRows(tx, own)) >= MAX_PRESETS) throw kind.full();
    await kind.beforeWrite(tx, workspaceId, settings);
    const id = newId();
    const row = { id, workspace_id: workspaceId, name, name_key: nameKey(name), ...kind.toColumns(settings) };
    const columns = Object.keys(row).map((column) => sql.ref(column));
    await sql`
      INSERT INTO ${sql.table(table)} (${sql.join(columns)}) VALUES (${sql.join(Object.values(row))})
    `.execute(tx);
    await recordAudit(tx, context, {
      action: `${table}.created`,
      targetType: target,
      targetId: id,
      details: { name, ...kind.toAudit(settings) },
    });
    return findPreset(tx, kind, workspaceId, id);
  }).catch(rethrowNameTaken(kind));
}

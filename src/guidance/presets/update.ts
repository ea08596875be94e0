import { sql } from 'kysely';
import { recordAudit } from '../../audit/record.ts';
import { applyChanges } from '../../changes.ts';
import { requirePermissions, type VerbContext } from '../../context.ts';
import { lockWorkspace } from '../../db/lock-workspace.ts';
import { inTransaction } from '../../db/transaction.ts';
import { nameKey } from '../../name-key.ts';
import type { Preset, PresetChanges, PresetKind, PresetTable } from './kind.ts';
import { findPreset } from './queries.ts';
import { refuseBuiltIn, refuseBuiltInName, rethrowNameTaken } from './rules.ts';

/**
 * Changes the settings that are given (generation.configure; contract.md G50, G54).
 * @throws {ServiceError} RESOURCE_NOT_FOUND; CONFLICT `name_taken`, also by a built-in one, or `built_in_template`
 */
export async function updatePreset<Table extends PresetTable>(
  context: VerbContext,
  kind: PresetKind<Table>,
  id: string,
  changes: PresetChanges<Table>,
): Promise<Preset<Table>> {
  const { db, actor } = context;
  requirePermissions(actor, 'generation.configure');
  refuseBuiltIn(kind, id);
  return inTransaction(db, async (tx) => {
    await lockWorkspace(tx, actor);
    const before = await findPreset(tx, kind, actor.workspaceId, id);
    const { after: wanted, changed } = applyChanges(before, changes);
    if (changed.length === 0) return before;
    const { name } = wanted;
    if (name !== before.name) refuseBuiltInName(kind, name);
    await kind.beforeWrite(tx, actor.workspaceId, wanted);
    const row = { name, name_key: nameKey(name), ...kind.toColumns(wanted) };
    const columns = Object.entries(row).map(([column, value]) => sql`${sql.ref(column)} = ${value}`);
    await sql`
      UPDATE ${sql.table(kind.table)} SET ${sql.join(columns)}, updated_at = clock_timestamp() WHERE id = ${id}
    `.execute(tx);
    await recordAudit(tx, context, {
      action: `${kind.table}.updated`,
      targetType: kind.target,
      targetId: id,
      details: { name, ...kind.toAudit(wanted), changed },
    });
    return findPreset(tx, kind, actor.workspaceId, id);
  }).catch(rethrowNameTaken(kind));
}

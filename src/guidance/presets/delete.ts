import { sql } from 'kysely';
import { recordAudit } from '../../audit/record.ts';
import { requirePermissions, type VerbContext } from '../../context.ts';
import { inTransaction } from '../../db/transaction.ts';
import { notFound } from '../../errors.ts';
import type { PresetKind, PresetTable } from './kind.ts';
import { refuseBuiltIn } from './rules.ts';

/**
 * Deletes a preset of the workspace (generation.configure; contract.md G52, G54). Projects whose default voice it was have
 * none then.
 * @throws {ServiceError} RESOURCE_NOT_FOUND; CONFLICT `built_in_template`
 */
export async function deletePreset<Table extends PresetTable>(
  context: VerbContext,
  kind: PresetKind<Table>,
  id: string,
): Promise<void> {
  const { db, actor } = context;
  requirePermissions(actor, 'generation.configure');
  refuseBuiltIn(kind, id);
  await inTransaction(db, async (tx) => {
    const { rows } = await sql<{ name: string }>`
      DELETE FROM ${sql.table(kind.table)} WHERE workspace_id = ${actor.workspaceId} AND id = ${id}
      RETURNING name`.execute(tx);
    if (rows[0] === undefined) throw notFound(kind.noun);
    await recordAudit(tx, context, {
      action: `${kind.table}.deleted`,
      targetType: kind.target,
      targetId: id,
      details: { name: rows[0].name },
    });
  });
}

import { recordAudit } from '../audit/record.ts';
import { requirePermissions, type VerbContext } from '../context.ts';
import { countRows } from '../db/count-rows.ts';
import type { Tx } from '../db/database.ts';
import { uniqueViolation } from '../db/errors.ts';
import { inTransaction } from '../db/transaction.ts';
import { conflict, notFound, type ServiceError } from '../errors.ts';
import { trimmedText } from '../fields.ts';
import type { BrandVoiceId, ContentTemplateId, WorkspaceId } from '../ids.ts';

const MAX_OF_A_KIND = 100;

/** What a workspace may have 100 of, each under a name of its own. */
export const VOICES = {
  table: 'brand_voices',
  target: 'brand_voice',
  word: 'brand voice',
  full: () =>
    conflict(`A workspace has at most ${MAX_OF_A_KIND} brand voices; delete one first.`, 'brand_voice_limit'),
} as const;
export const TEMPLATES = {
  table: 'content_templates',
  target: 'content_template',
  word: 'content template',
  full: () =>
    conflict(
      `A workspace has at most ${MAX_OF_A_KIND} content templates; delete one first.`,
      'content_template_limit',
    ),
} as const;
type Kind = typeof VOICES | typeof TEMPLATES;

export const textName = trimmedText(1, 120).meta({
  description: 'Unique among those of the workspace, ignoring case.',
});

/**
 * Whether the workspace has room for another one. The caller has locked the workspace, so none is counted too late.
 * @throws {ServiceError} CONFLICT `brand_voice_limit` or `content_template_limit`
 */
export async function requireRoom(tx: Tx, workspaceId: WorkspaceId, { table, full }: Kind): Promise<void> {
  const count = await countRows(tx, tx.selectFrom(table).where('workspace_id', '=', workspaceId));
  if (count >= MAX_OF_A_KIND) throw full();
}

/** 409 for a name that another one has. */
export const nameTaken = ({ word }: Kind): ServiceError =>
  conflict(`The workspace already has a ${word} with that name.`, 'name_taken');

/** Passes any error on, but a name that is taken as the conflict it is. */
export const rethrowNameTaken =
  (kind: Kind) =>
  (error: unknown): never => {
    throw uniqueViolation(error) === `${kind.table}_name_key` ? nameTaken(kind) : error;
  };

/**
 * Deletes a voice or template of the workspace (generation.configure).
 * @throws {ServiceError} RESOURCE_NOT_FOUND
 */
export async function deleteNamedText(
  context: VerbContext,
  { table, target, word }: Kind,
  id: BrandVoiceId | ContentTemplateId,
): Promise<void> {
  const { db, actor } = context;
  requirePermissions(actor, 'generation.configure');
  await inTransaction(db, async (tx) => {
    const { name } = await tx
      .deleteFrom(table)
      .where('workspace_id', '=', actor.workspaceId)
      .where('id', '=', id)
      .returning('name')
      .executeTakeFirstOrThrow(() => notFound(word));
    await recordAudit(tx, context, {
      action: `${table}.deleted`,
      targetType: target,
      targetId: id,
      details: { name },
    });
  });
}

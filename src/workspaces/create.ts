import { randomUUID } from 'node:crypto';
import { generateKey } from '../api-keys/key-format.ts';
import { insertApiKey } from '../api-keys/queries.ts';
import { recordAudit } from '../audit/record.ts';
import type { Actor } from '../context.ts';
import type { Database, Tx } from '../db/database.ts';
import { inTransaction } from '../db/transaction.ts';
import { trimmedText } from '../fields.ts';
import { type ApiKeyId, newId, type RoleId, type WorkspaceId } from '../ids.ts';
import { insertBuiltInRoles } from '../roles/queries.ts';

/** Need not be unique. */
export const workspaceName = trimmedText(1, 120);

export interface CreateWorkspaceInput {
  /** As {@link workspaceName} leaves it. */
  readonly name: string;
  /** Credits of the first grant; 0 for none. */
  readonly credits: number;
  /** Who makes it; absent for the service itself. */
  readonly operator?: string;
}

/** A new workspace. `apiKey.key` is the raw key of its owner, which the service does not keep. */
export interface CreatedWorkspace {
  readonly workspaceId: WorkspaceId;
  readonly roles: { readonly owner: RoleId; readonly admin: RoleId; readonly editor: RoleId };
  readonly apiKey: { readonly id: ApiKeyId; readonly key: string };
}

const OWNER_KEY_LABEL = 'Owner';

/**
 * Creates a workspace with its wallet, its built-in roles and a first key with the role Owner, in one transaction.
 * Operator only.
 */
export const createWorkspace = (db: Database, input: CreateWorkspaceInput): Promise<CreatedWorkspace> =>
  inTransaction(db, (tx) => insertWorkspace(tx, input));

/** `createWorkspace` in the caller's transaction. */
export async function insertWorkspace(
  tx: Tx,
  { name, credits, operator }: CreateWorkspaceInput,
): Promise<CreatedWorkspace> {
  const workspaceId = newId<WorkspaceId>();
  const actor: Actor = {
    kind: 'operator',
    workspaceId,
    ...(operator === undefined ? {} : { name: operator }),
  };
  const context = { actor, requestId: randomUUID() };

  await tx.insertInto('workspaces').values({ id: workspaceId, name }).execute();
  await tx.insertInto('wallets').values({ workspace_id: workspaceId, balance: credits }).execute();
  if (credits > 0) {
    await tx
      .insertInto('ledger_entries')
      .values({ workspace_id: workspaceId, kind: 'grant', amount: credits })
      .execute();
  }
  await recordAudit(tx, context, {
    action: 'workspaces.created',
    targetType: 'workspace',
    targetId: workspaceId,
    details: { name, credits },
  });

  const roles = await insertBuiltInRoles(tx, workspaceId);
  const id = newId<ApiKeyId>();
  const { key, prefix, hash } = generateKey();
  const label = OWNER_KEY_LABEL;
  await insertApiKey(tx, { id, workspaceId, roleId: roles.owner, label, prefix, hash, expiresAt: null });
  await recordAudit(tx, context, {
    action: 'api_keys.created',
    targetType: 'api_key',
    targetId: id,
    details: { label, prefix, roleId: roles.owner, expiresAt: null },
  });
  return { workspaceId, roles, apiKey: { id, key } };
}

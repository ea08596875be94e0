import type { Tx } from '../db/database.ts';
import { newId, type RoleId, type WorkspaceId } from '../ids.ts';
import { BUILT_IN_ROLES } from '../permissions.ts';
import { insertRole } from './queries.ts';

/** Gives a new workspace its built-in roles, in the transaction that makes it. */
export async function insertBuiltInRoles(
  tx: Tx,
  workspaceId: WorkspaceId,
): Promise<{ owner: RoleId; admin: RoleId; editor: RoleId }> {
  const insert = async ({ name, permissions }: (typeof BUILT_IN_ROLES)[keyof typeof BUILT_IN_ROLES]) => {
    const role = { id: newId<RoleId>(), workspaceId, name, permissions, builtIn: true };
    return (await insertRole(tx, role)).id;
  };
  return {
    owner: await insert(BUILT_IN_ROLES.owner),
    admin: await insert(BUILT_IN_ROLES.admin),
    editor: await insert(BUILT_IN_ROLES.editor),
  };
}

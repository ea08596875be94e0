import { requirePermissions, type VerbContext } from '../context.ts';
import { selectRoles } from './queries.ts';
import type { RoleItem } from './schemas.ts';

/** Every role of the workspace, built-in ones first. */
export async function listRoles({ db, actor }: VerbContext): Promise<RoleItem[]> {
  requirePermissions(actor, 'roles.read');
  return selectRoles(db, actor.workspaceId);
}

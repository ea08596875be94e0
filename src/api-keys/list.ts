import { requirePermissions, type VerbContext } from '../context.ts';
import { selectApiKeys } from './queries.ts';
import type { ApiKeyItem } from './schemas.ts';

/** Every key of the workspace, revoked and expired ones included (contract.md K3). */
export async function listApiKeys({ db, actor }: VerbContext): Promise<ApiKeyItem[]> {
  requirePermissions(actor, 'api_keys.read');
  return selectApiKeys(db, actor.workspaceId);
}

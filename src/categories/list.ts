import { requirePermissions, type VerbContext } from '../context.ts';
import { selectCategories } from './queries.ts';
import type { ListedCategory } from './schemas.ts';

/** Every category of the workspace, oldest first (contract.md C13). */
export async function listCategories({ db, actor }: VerbContext): Promise<ListedCategory[]> {
  requirePermissions(actor, 'categories.read');
  return selectCategories(db, actor.workspaceId);
}

import type { Database } from '../db/database.ts';
import type { ArticleId, WorkspaceId } from '../ids.ts';

/** For each of the articles: its version in the target language, where there is one. */
export async function targetVersions(
  db: Database,
  workspaceId: WorkspaceId,
  linked: readonly ArticleId[],
  language: string,
): Promise<Map<string, string>> {
  if (linked.length === 0) return new Map();
  const rows = await db
    .selectFrom('articles as source')
    .innerJoin('articles as version', 'version.translation_group_id', 'source.translation_group_id')
    .select(['source.id as sourceId', 'version.id as versionId'])
    .where('source.workspace_id', '=', workspaceId)
    .where('version.workspace_id', '=', workspaceId)
    .where('source.id', 'in', linked)
    .where('version.primary_language', '=', language)
    .execute();
  return new Map(rows.map((row) => [row.sourceId, row.versionId]));
}

import { sql } from 'kysely';
import { requirePermissions, type VerbContext } from '../context.ts';
import type { ArticleId } from '../ids.ts';
import { doTask } from '../threads/pool.ts';
import { type Claim, type Source, toSource } from './schemas.ts';

/** An article's sources in the order in which they were read, each with its notes (articles.read; contract.md N11). */
export async function listSources(
  { db, actor }: VerbContext,
  articleId: ArticleId,
): Promise<{ sources: Source[] }> {
  requirePermissions(actor, 'articles.read');
  const rows = await db
    .selectFrom('article_sources')
    .select([
      'id',
      'workspace_id',
      'article_id',
      'job_id',
      'position',
      'url',
      'title',
      'site',
      'published_at',
      'fetched_at',
      'hash',
    ])
    .where('workspace_id', '=', actor.workspaceId)
    .where('article_id', '=', articleId)
    .orderBy('position')
    .execute();
  const notes = await db
    .selectFrom('article_notes')
    .select(['id', 'source_id', 'quote'])
    .where('workspace_id', '=', actor.workspaceId)
    .where('article_id', '=', articleId)
    .orderBy('position')
    .execute();
  const ofSource = Map.groupBy(notes, (note) => note.source_id);
  return {
    sources: rows.map((row) =>
      toSource(
        row,
        (ofSource.get(row.id) ?? []).map(({ id, quote }) => ({ id, quote })),
      ),
    ),
  };
}

/** An article's claims in the order of its text (articles.read; contract.md N13). */
export async function listClaims(
  { db, actor }: VerbContext,
  articleId: ArticleId,
): Promise<{ claims: Claim[] }> {
  requirePermissions(actor, 'articles.read');
  const rows = await db
    .selectFrom('article_claims')
    .selectAll()
    .where('workspace_id', '=', actor.workspaceId)
    .where('article_id', '=', articleId)
    .orderBy('position')
    .execute();
  if (rows.length === 0) return { claims: [] };
  const ids = rows.map((row) => row.block_id);
  const article = await db
    .selectFrom('articles')
    .select(
      sql<string>`(SELECT coalesce(jsonb_agg(block), '[]')::text FROM jsonb_array_elements(document -> 'blocks') AS block
        WHERE block ->> 'id' = ANY(${ids}))`.as('blocks'),
    )
    .where('workspace_id', '=', actor.workspaceId)
    .where('id', '=', articleId)
    .executeTakeFirst();
  const sentences = rows.map((row) => ({ blockId: row.block_id, sentence: row.sentence }));
  const isThere = await doTask('standing', article?.blocks ?? '[]', JSON.stringify(sentences));
  return {
    claims: rows.map((row, at) => ({
      id: row.id,
      blockId: row.block_id,
      sentence: row.sentence,
      verdict: row.verdict,
      changed: isThere[at] !== true,
      sourceId: row.source_id,
      passage: row.passage,
    })),
  };
}

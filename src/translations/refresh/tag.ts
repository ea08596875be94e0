import { sql } from 'kysely';
import { IMAGES_HASH } from '../../articles/images.ts';
import type { Queryable, Tx } from '../../db/database.ts';
import { etagOfJson, requireIfMatch, requireTag } from '../../http/etag.ts';
import type { ArticleId } from '../../ids.ts';
import type { VersionId } from './version.ts';

/** The article that a version was last translated from, which may be deleted; null for one that is no translation. */
export async function sourceIdOf(
  db: Queryable,
  { workspaceId, articleId }: VersionId,
): Promise<ArticleId | null> {
  const { rows } = await sql<{ source: ArticleId | null }>`
    SELECT coalesce(
      (SELECT source_article_id FROM article_provenance
        WHERE workspace_id = ${workspaceId} AND article_id = ${articleId}),
      -- Translated by a release without provenance, and not detached since.
      (SELECT source.id FROM jobs JOIN translations ON translations.job_id = jobs.id
        JOIN articles AS source ON source.id = translations.source_article_id
        JOIN articles AS version ON version.id = jobs.article_id
          AND version.translation_group_id = source.translation_group_id
        WHERE jobs.workspace_id = ${workspaceId} AND jobs.article_id = ${articleId}
          AND jobs.purpose = 'translate' AND jobs.status = 'COMPLETED'
        ORDER BY jobs.created_at DESC LIMIT 1)
    ) AS source`.execute(db);
  return rows[0]?.source ?? null;
}

/** The content of an article and its images. */
const sideOf = (version: VersionId, id: ArticleId | null) => sql`(
  SELECT json_build_array(content_version, ${IMAGES_HASH})
  FROM articles WHERE workspace_id = ${version.workspaceId} AND id = ${id})`;

/**
 * The tag of what editors decide about: the content of a version and of its source, provenance, and open proposals
 * (contract.md T48).
 */
export async function stateTag(
  db: Queryable,
  version: VersionId,
  sourceId: ArticleId | null,
): Promise<string> {
  const { articleId } = version;
  const { rows } = await sql<{ state: string }>`
    SELECT json_build_array(
      ${sourceId}::uuid, ${sideOf(version, articleId)}, ${sideOf(version, sourceId)},
      (SELECT xmin::text FROM article_provenance WHERE article_id = ${articleId}),
      (SELECT md5(string_agg(id::text, ',' ORDER BY id)) FROM proposals WHERE article_id = ${articleId})
    )::text AS state`.execute(db);
  return etagOfJson(rows[0]?.state ?? '');
}

/**
 * Refuses a decision about another state than the present one.
 * @returns repeats it in the transaction of the decision, once the version is locked
 * @throws {ServiceError} INVALID_REQUEST without If-Match, or with `*`; PRECONDITION_FAILED
 */
export async function matchState(
  db: Queryable,
  version: VersionId,
  sourceId: ArticleId | null,
  ifMatch: string | undefined,
): Promise<(tx: Tx) => Promise<void>> {
  const named = requireIfMatch(ifMatch, 'translation state or the proposals');
  const read = await stateTag(db, version, sourceId);
  requireTag(named, 'translation', (tag) => tag === read);
  return async (tx) => {
    const present = await stateTag(tx, version, sourceId);
    requireTag(read, 'translation', (tag) => tag === present);
  };
}

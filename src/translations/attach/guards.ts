/** What must hold for an article to change its group; each guards the statement that does so. */
import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '../../db/database.ts';
import { conflict, type ServiceError } from '../../errors.ts';
import type { ArticleId } from '../../ids.ts';

/** SQL over `articles`. */
export type Guard = RawBuilder<boolean>;

/** No refresh of it is open: that would write what was made from another source. */
export const isNotRefreshed: Guard = sql<boolean>`NOT EXISTS (
  SELECT FROM jobs WHERE jobs.article_id = articles.id AND jobs.purpose = 'refresh' AND jobs.ended_at IS NULL)`;

const others = sql`FROM articles AS other
  WHERE other.translation_group_id = articles.translation_group_id AND other.id <> articles.id`;

export const isAlone: Guard = sql<boolean>`NOT EXISTS (SELECT ${others})`;

/** No version of its group was translated from it, or is being translated. */
export const isNoSource: Guard = sql<boolean>`NOT EXISTS (SELECT ${others} AND (
  EXISTS (SELECT FROM article_provenance AS known
    WHERE known.article_id = other.id AND known.source_article_id = articles.id)
  OR EXISTS (SELECT FROM jobs JOIN translations ON translations.job_id = jobs.id
    WHERE jobs.article_id = other.id AND jobs.ended_at IS NULL AND translations.source_article_id = articles.id)))`;

/** It has somebody or something to be detached from. */
export const isAttached: Guard = sql<boolean>`(EXISTS (SELECT ${others})
  OR EXISTS (SELECT FROM article_provenance AS known WHERE known.article_id = articles.id))`;

export const refreshRunning = (): ServiceError =>
  conflict('A refresh of this version is under way. Wait for it to end, or cancel it.', 'refresh_running');

/** The guards that a locked article does not pass, by name. */
export async function failing<Name extends string>(
  tx: Tx,
  articleId: ArticleId,
  guards: Readonly<Record<Name, Guard>>,
): Promise<ReadonlySet<Name>> {
  const names = Object.keys(guards) as Name[];
  const { rows } = await sql<{ failing: Name[] }>`
    SELECT array_remove(ARRAY[${sql.join(
      names.map((name) => sql`CASE WHEN ${guards[name]} THEN NULL ELSE ${sql.lit(name)} END`),
    )}], NULL) AS failing
    FROM articles WHERE id = ${articleId}`.execute(tx);
  return new Set(rows[0]?.failing);
}

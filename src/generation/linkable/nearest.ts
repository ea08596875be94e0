import { sql } from 'kysely';
import type { Queryable } from '../../db/database.ts';
import type { ArticleId, ProjectId, WorkspaceId } from '../../ids.ts';
import { sharesWriting } from '../../language-names.ts';
import type { GenerationConfig } from '../config.ts';
import type { LinkableArticle } from '../writing/brief.ts';

/** Articles that a text may link to. */
export const MAX_LINKABLE = 20;
/** Words of the run that are looked for. */
const MAX_WORDS = 40;
/** Articles that are ranked: those with the rarest words first. */
const MAX_CANDIDATES = 2_000;

export interface LinkingArticle {
  readonly workspaceId: WorkspaceId;
  readonly projectId: ProjectId;
  readonly articleId: ArticleId;
  readonly title: string;
  readonly config: Pick<GenerationConfig, 'topic' | 'primaryKeyword' | 'secondaryKeywords' | 'language'>;
}

/** The indexed words of an article; the last one is its project and language. */
const indexed = sql`(article_words(title, target_keywords, secondary_keywords)
  || array_to_tsvector(ARRAY[project_id::text || ' ' || primary_language]))`;

/**
 * The published articles of the project nearest to an article by words in title, keywords and categories, in a language of
 * the same primary subtag and script, nearest first (contract.md G87). Rare words count for more. Where fewer share a word
 * the newest follow. Of the versions of one article there is one, its own none. It reads at most 2,000 articles for each of
 * 40 words, whatever the size of the project.
 */
export async function findNearest(db: Queryable, article: LinkingArticle): Promise<LinkableArticle[]> {
  const { workspaceId, projectId, articleId, title, config } = article;
  const { topic, primaryKeyword = '', secondaryKeywords, language } = config;
  const { languages } = await db
    .selectFrom('projects')
    .select('languages')
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', projectId)
    .executeTakeFirstOrThrow();
  const tags = languages.filter((tag) => sharesWriting(tag, language));
  const text = [primaryKeyword, title, topic, ...secondaryKeywords].join('\n');
  const scope = tags.map((tag) => `'${projectId} ${tag}'`).join(' | ');
  const { rows } = await sql<LinkableArticle>`
    WITH words AS MATERIALIZED (
      SELECT ('''' || replace(replace(lexeme, '\\', '\\\\'), '''', '''''') || '''')::tsquery AS word
      FROM unnest(plain_words(${text})) GROUP BY lexeme ORDER BY min(positions[1]) LIMIT ${MAX_WORDS}
    ), counted AS MATERIALIZED (
      SELECT word, held FROM words, LATERAL (
        SELECT count(*)::integer AS held FROM (
          SELECT FROM articles WHERE status = 'PUBLISHED' AND ${indexed} @@ (${scope}::tsquery && word)
          LIMIT ${MAX_CANDIDATES + 1}) AS counted) AS counts
    ), shares AS MATERIALIZED (
      SELECT word, sum(held) OVER (ORDER BY held, word) - held AS before FROM counted WHERE held > 0
    ), named AS MATERIALIZED (
      SELECT category_id, name FROM category_names
      WHERE workspace_id = ${workspaceId} AND plain_words(name) @@ (
        SELECT string_agg(word::text, ' | ')::tsquery FROM counted WHERE held <= ${MAX_CANDIDATES})
    ), candidates AS (
      SELECT id FROM shares, LATERAL (
        SELECT id FROM articles WHERE status = 'PUBLISHED' AND ${indexed} @@ (${scope}::tsquery && word)
        LIMIT greatest(0, ${MAX_CANDIDATES} - before)) AS holding
      UNION (SELECT article_id FROM article_categories
        WHERE category_id IN (SELECT category_id FROM named) LIMIT ${MAX_CANDIDATES})
      UNION SELECT id FROM unnest(${tags}::text[]) AS tag, LATERAL (
        SELECT id FROM articles
        WHERE project_id = ${projectId} AND primary_language = tag AND status = 'PUBLISHED'
        ORDER BY published_at DESC LIMIT ${MAX_LINKABLE + 1}) AS newest
    ), ranked AS (
      SELECT DISTINCT ON (translation_group_id) article.id, title, published_at, coalesce(nearness, 0) AS nearness
      FROM candidates CROSS JOIN LATERAL (
        -- One by one, however few articles the planner expects.
        SELECT id, workspace_id, project_id, title, target_keywords, secondary_keywords, status, primary_language,
          translation_group_id, published_at
        FROM articles WHERE articles.id = candidates.id OFFSET 0
      ) AS article, LATERAL (
        SELECT article_words(title, target_keywords, secondary_keywords) || coalesce((
          SELECT setweight(plain_words(string_agg(name, ' ')), 'C')
          FROM named JOIN article_categories USING (category_id) WHERE article_id = article.id), '') AS own OFFSET 0
      ) AS texts, LATERAL (SELECT sum(ts_rank(own, word) / ln(2 + held)) AS nearness FROM counted) AS sums
      WHERE workspace_id = ${workspaceId} AND project_id = ${projectId} AND status = 'PUBLISHED'
        AND primary_language = ANY (${tags}) AND translation_group_id <>
          (SELECT translation_group_id FROM articles WHERE id = ${articleId})
      ORDER BY translation_group_id, primary_language <> ${language}, nearness DESC, article.id
    )
    SELECT id, title FROM ranked ORDER BY nearness DESC, published_at DESC, id LIMIT ${MAX_LINKABLE}`.execute(
    db,
  );
  return rows;
}

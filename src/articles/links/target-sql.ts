const isLinkable = (article: string) =>
  `${article}.status = 'PUBLISHED' AND coalesce(${article}.published_url, project.address_template) IS NOT NULL`;

const addressOf = (language: string, slug: string) =>
  `replace(replace(project.address_template, '{language}', ${language}), '{slug}', ${slug})`;

/** In a translation: the version of `named` in its language; never the translation itself. */
const JOIN_SIBLING = `
  LEFT JOIN LATERAL (
    SELECT other.id, other.slug, other.published_url, other.primary_language FROM articles AS other
    WHERE article.is_translation AND named.primary_language <> article.primary_language
      AND other.translation_group_id = named.translation_group_id
      AND other.primary_language = article.primary_language
      AND other.project_id = article.project_id AND ${isLinkable('other')}
    LIMIT 1
  ) AS sibling ON true
  CROSS JOIN LATERAL (
    SELECT coalesce(sibling.id, named.id) AS id,
      coalesce(
        CASE WHEN sibling.id IS NULL THEN named.published_url ELSE sibling.published_url END,
        ${addressOf('coalesce(sibling.primary_language, named.primary_language)', 'coalesce(sibling.slug, named.slug)')}
      ) AS address
    WHERE NOT (article.is_translation AND coalesce(sibling.id, named.id) = article.id)
  ) AS led`;

/**
 * SQL that joins `link` (a row with a `target_id`) of `article` to `led`: id and address of the article that the link leads
 * to. No row without an address (contract.md F5).
 *
 * A link leads to its target while that is PUBLISHED with an address. In a translation, a link to an article of another
 * language leads to that article's version in the translation's language, if PUBLISHED with an address, but never to the
 * translation itself.
 *
 * The limits keep each article a look-up of its own: no plan joins whole tables.
 */
export const JOIN_LINK_TARGET = `
  JOIN projects AS project ON project.id = article.project_id
  CROSS JOIN LATERAL (
    SELECT target.id, target.slug, target.published_url, target.primary_language, target.translation_group_id
    FROM articles AS target
    WHERE target.id = link.target_id AND target.project_id = article.project_id AND ${isLinkable('target')}
    LIMIT 1
  ) AS named
  ${JOIN_SIBLING}`;

/** One look-up of all keys takes half the time of one for each. */
const FROM_NAMED = `
  FROM articles AS article
  JOIN projects AS project ON project.id = article.project_id
  JOIN articles AS named ON named.id = ANY (ARRAY(SELECT target_id FROM article_links WHERE article_id = $1))
    AND named.project_id = article.project_id AND ${isLinkable('named')}`;

/**
 * SQL for where all links of an article lead, by the same rule. Parameter: the article. Columns: `target_id`, `id`,
 * `address`.
 */
export const TARGETS_OF_TRANSLATION = `
  SELECT named.id AS target_id, led.id, led.address ${FROM_NAMED} ${JOIN_SIBLING} WHERE article.id = $1`;

/** The same for an article that is no translation: `id` is always the target. */
export const TARGETS_OF_ARTICLE = `
  SELECT named.id, coalesce(named.published_url, ${addressOf('named.primary_language', 'named.slug')}) AS address
  ${FROM_NAMED} WHERE article.id = $1`;

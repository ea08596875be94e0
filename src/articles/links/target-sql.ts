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
    SELECT id, slug, published_url, primary_language, translation_group_id
    FROM articles WHERE id = link.target_id AND project_id = article.project_id
      AND status = 'PUBLISHED' AND coalesce(published_url, project.address_template) IS NOT NULL
    LIMIT 1
  ) AS named
  LEFT JOIN LATERAL (
    SELECT id, slug, published_url, primary_language FROM articles
    WHERE article.is_translation AND named.primary_language <> article.primary_language
      AND translation_group_id = named.translation_group_id AND primary_language = article.primary_language
      AND project_id = article.project_id
      AND status = 'PUBLISHED' AND coalesce(published_url, project.address_template) IS NOT NULL
    LIMIT 1
  ) AS sibling ON true
  CROSS JOIN LATERAL (
    SELECT coalesce(sibling.id, named.id) AS id,
      coalesce(
        CASE WHEN sibling.id IS NULL THEN named.published_url ELSE sibling.published_url END,
        replace(
          replace(project.address_template, '{language}', coalesce(sibling.primary_language, named.primary_language)),
          '{slug}', coalesce(sibling.slug, named.slug))
      ) AS address
    WHERE NOT (article.is_translation AND coalesce(sibling.id, named.id) = article.id)
  ) AS led`;

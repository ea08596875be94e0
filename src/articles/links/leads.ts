/**
 * SQL that joins `link` (a row with a `target_id`) of `article`, the one that links, to `led`: the id of the article that
 * the link leads to, and its address. Without an address to lead to there is no row (contract.md F5).
 *
 * A link leads to the article it names while that is PUBLISHED with an address. In a translation, a link to an article of
 * another language leads to its sibling in the translation's language, if that is PUBLISHED with an address too, and never
 * to the translation itself.
 */
export const WHERE_LINK_LEADS = `
  JOIN articles AS named ON named.id = link.target_id AND named.project_id = article.project_id
    AND named.status = 'PUBLISHED'
  JOIN projects AS project ON project.id = named.project_id
    AND coalesce(named.published_url, project.address_template) IS NOT NULL
  LEFT JOIN articles AS sibling ON article.is_translation
    AND named.primary_language <> article.primary_language
    AND sibling.translation_group_id = named.translation_group_id
    AND sibling.primary_language = article.primary_language
    AND sibling.project_id = named.project_id
    AND sibling.status = 'PUBLISHED'
    AND coalesce(sibling.published_url, project.address_template) IS NOT NULL
  JOIN LATERAL (
    SELECT coalesce(sibling.id, named.id) AS id,
      coalesce(
        CASE WHEN sibling.id IS NULL THEN named.published_url ELSE sibling.published_url END,
        replace(
          replace(project.address_template, '{language}', coalesce(sibling.primary_language, named.primary_language)),
          '{slug}', coalesce(sibling.slug, named.slug))
      ) AS address
  ) AS led ON NOT (article.is_translation AND led.id = article.id)`;

import { hash } from 'node:crypto';
import { assetPath } from '../blobs/asset.ts';
import type { Queryable } from '../db/database.ts';
import { textStatement } from '../db/prepared.ts';
import { imageTargets, parsePlaces } from '../document/render/places.ts';
import { type Resolver, splice } from '../document/render/splice.ts';
import type { AssetId } from '../ids.ts';
import { WHERE_LINK_LEADS } from './links/leads.ts';
import type { ArticleRow } from './queries.ts';
import { type ArticleResponse, toArticle } from './schemas.ts';

/** An article as sent, with its strong entity tag (RFC 9110, 8.8.3). */
export interface ShownArticle {
  readonly article: ArticleResponse;
  readonly tag: string;
}

interface Shown {
  /** Named article, where the link leads, and the address there. */
  readonly links: readonly (readonly [string, string, string])[];
  readonly images: readonly { id: AssetId; content_hash: string; alt_text: string }[];
}

/** Parameters: the article, the images in its body. The hero is the cover and never part of the body. */
const readShown = textStatement<Shown>(
  'read_shown',
  `SELECT
     (SELECT coalesce(json_agg(json_build_array(link.target_id, led.id, led.address) ORDER BY link.target_id), '[]')
      FROM articles AS article JOIN article_links AS link ON link.article_id = article.id ${WHERE_LINK_LEADS}
      WHERE article.id = $1) AS links,
     (SELECT coalesce(json_agg(json_build_object('id', id, 'content_hash', content_hash, 'alt_text', alt_text) ORDER BY id), '[]')
      FROM assets WHERE article_id = $1 AND id = ANY ($2::uuid[]) AND role = 'inline') AS images`,
);

/**
 * An article as it is shown now: the addresses of its links and images are read when it is (contract.md R3), in one
 * statement, and none where it has neither.
 *
 * The tag begins with the row's version, by which a save is checked; where the body shows links or images, a hash of what
 * they are now and of updatedAt follows, since both change without a save.
 */
export async function showArticle(db: Queryable, row: ArticleRow): Promise<ShownArticle> {
  const { content_html: html, content_markdown: markdown, content_places } = row;
  if (content_places === null || html === null || markdown === null) {
    return { article: toArticle(row, { html, markdown }), tag: `"${row.version}"` };
  }
  const places = parsePlaces(content_places);
  const [shown] = await readShown(db, row.id, imageTargets(places));
  const content = splice({ html, markdown, places }, resolveBy(shown));
  const state = hash('sha256', JSON.stringify([shown, row.updated_at]), 'base64url').slice(0, 16);
  return { article: toArticle(row, content), tag: `"${row.version}-${state}"` };
}

function resolveBy(shown: Shown | undefined): Resolver {
  const links = new Map(shown?.links.map(([named, id, url]) => [named, { id, url }]));
  const images = new Map(
    shown?.images.map((image) => [image.id as string, { url: assetPath(image), altText: image.alt_text }]),
  );
  return { link: (id) => links.get(id) ?? null, asset: (id) => images.get(id) ?? null };
}

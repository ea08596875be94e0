import { hash } from 'node:crypto';
import { assetPath } from '../blobs/asset.ts';
import type { Queryable } from '../db/database.ts';
import { textStatement } from '../db/prepared.ts';
import { imageTargets, parsePlaces } from '../document/render/places.ts';
import { type Resolver, splice } from '../document/render/splice.ts';
import { bytesToRead } from '../http/limits.ts';
import type { AssetId } from '../ids.ts';
import { requireRoom } from '../threads/share.ts';
import { TARGETS_OF_ARTICLE, TARGETS_OF_TRANSLATION } from './links/target-sql.ts';
import type { ArticleRow } from './queries.ts';
import { type ArticleResponse, toArticle } from './schemas.ts';

/** An article's response, with its strong entity tag (RFC 9110, 8.8.3). */
export interface ShownArticle {
  readonly article: ArticleResponse;
  readonly tag: string;
}

interface Pointed {
  /** A line per link: target, address, and the article that it leads to if another. None has white space. */
  readonly links: string | null;
  readonly images:
    | readonly {
        id: AssetId;
        content_hash: string;
        alt_text: string;
        width: number | null;
        height: number | null;
      }[]
    | null;
}

/** Parameters: the article, the images in its body. The hero is the cover and never part of the body (contract.md F8). */
const readPointed = (name: string, links: string) =>
  textStatement<Pointed>(
    name,
    `SELECT (${links}) AS links,
       (SELECT json_agg(json_build_object('id', id, 'content_hash', content_hash, 'alt_text', alt_text,
          'width', width, 'height', height))
        FROM assets WHERE article_id = $1 AND id = ANY ($2::uuid[]) AND role = 'inline') AS images`,
  );
const readByArticle = readPointed(
  'read_pointed_by_article',
  `SELECT string_agg(led.id || ' ' || led.address, E'\\n') FROM (${TARGETS_OF_ARTICLE}) AS led`,
);
const readByTranslation = readPointed(
  'read_pointed_by_translation',
  `SELECT string_agg(concat_ws(' ', led.target_id, led.address, nullif(led.id, led.target_id)), E'\\n')
   FROM (${TARGETS_OF_TRANSLATION}) AS led`,
);

/**
 * Builds an article's response. Addresses of links and images are read now (contract.md R3), in one statement; an article
 * without links and images needs none.
 *
 * Nothing is committed yet: a request that has no room for the addresses is 503 (contract.md A52).
 *
 * The tag begins with the row's version, which saves compare, and the renderer, since another one can change the content
 * without a save. A body with links or images adds a hash of the content and updatedAt.
 */
export async function showArticle(db: Queryable, row: ArticleRow): Promise<ShownArticle> {
  const { content_html: html, content_markdown: markdown, content_places } = row;
  const version = `${row.version}.${row.rendered_by ?? 0}`;
  if (content_places === null || html === null || markdown === null) {
    return { article: toArticle(row, { html, markdown }), tag: `"${version}"` };
  }
  const places = parsePlaces(content_places);
  const read = row.is_translation ? readByTranslation : readByArticle;
  const [pointed] = await read(db, row.id, imageTargets(places));
  const content = splice({ html, markdown, places }, resolverOf(pointed), (inserted) =>
    requireRoom(bytesToRead(row.bytes + inserted)),
  );
  const state = hash(
    'sha256',
    `${row.updated_at.toISOString()}\0${content.html}\0${content.markdown}`,
    'base64url',
  );
  return { article: toArticle(row, content), tag: `"${version}-${state.slice(0, 16)}"` };
}

function resolverOf(pointed: Pointed | undefined): Resolver {
  const links = new Map<string, { id: string; url: string }>();
  for (const line of pointed?.links?.split('\n') ?? []) {
    const [named = '', url = '', id = named] = line.split(' ');
    links.set(named, { id, url });
  }
  const images = new Map<string, NonNullable<ReturnType<Resolver['asset']>>>();
  for (const { id, content_hash, alt_text, width, height } of pointed?.images ?? []) {
    const size = width === null || height === null ? null : { width, height };
    images.set(id, { url: assetPath(id, content_hash), altText: alt_text, size });
  }
  return { link: (id) => links.get(id) ?? null, asset: (id) => images.get(id) ?? null };
}

import { sql } from 'kysely';
import { hashesOf } from '../../articles/images.ts';
import type { ArticleRow } from '../../articles/queries.ts';
import { replaceImage } from '../../articles/replace-image.ts';
import { saveArticle } from '../../articles/save.ts';
import { keepBlobs } from '../../blobs/references.ts';
import type { Author } from '../../context.ts';
import type { Tx } from '../../db/database.ts';
import { parsePlaces, showsImage } from '../../document/render/places.ts';
import type { Changed } from '../../document/tasks/refresh.ts';
import { bytesOf, type SourceAsset } from '../../document/translation/source.ts';
import type { ArticleId, AssetId } from '../../ids.ts';
import { addImages } from '../add-images.ts';
import { keepProvenance } from '../provenance.ts';

/** A change of a version, by a refresh or an accepted proposal. */
export interface VersionChange {
  readonly sourceId: ArticleId;
  readonly changed: Changed;
  /** Audit details besides the changed fields. */
  readonly because: Readonly<Record<string, unknown>>;
}

/**
 * Writes a change into the locked version `before`: images, content and provenance.
 * @returns the version afterwards, and by how many bytes its images have grown
 */
export async function writeChange(
  tx: Tx,
  author: Author,
  before: ArticleRow,
  { sourceId, changed, because }: VersionChange,
): Promise<{ after: ArticleRow; bytes: number }> {
  const { addImages: added, altTexts, replaceImages, removeImages: removed, fields, body } = changed;
  const gone = await removeImages(tx, before.id, removed);
  let bytes = -bytesOf(gone);
  if (added.length > 0) bytes += bytesOf(added) - (await addImages(tx, before, added));
  const replaced = await putInPlace(tx, before, replaceImages);
  bytes += replaced.bytes;
  const described = await describeImages(tx, before.id, altTexts);
  const shown = [parsePlaces(before.content_places), body.rendered.places];
  const isImageShown =
    [...gone, ...added, ...replaced.images, ...described].some(({ role }) => role === 'hero') ||
    [...gone, ...added, ...replaced.images].some(({ id }) =>
      shown.some((places) => showsImage(places, id)),
    ) ||
    described.some(({ id }) => shown.some((places) => showsImage(places, id, true)));
  let after = before;
  if (changed.applied.length > 0) {
    after = await saveArticle(
      tx,
      author,
      before,
      {
        ...fields,
        slug: before.slug,
        body,
        imagesChanged: isImageShown,
      },
      because,
    );
  }
  await keepProvenance(tx, before, sourceId, changed.decided);
  return { after, bytes };
}

async function removeImages(tx: Tx, articleId: ArticleId, ids: readonly AssetId[]) {
  if (ids.length === 0) return [];
  return tx
    .deleteFrom('assets')
    .where('article_id', '=', articleId)
    .where('id', 'in', ids)
    .returning(['id', 'role', 'byte_size as byteSize', 'variant_bytes as variantBytes'])
    .execute();
}

/** Gives images other bytes, unless these are gone or the image has others by now; returns those that got them. */
async function putInPlace(tx: Tx, article: ArticleRow, wanted: Changed['replaceImages']) {
  const kept = await keepBlobs(tx, hashesOf(wanted.map(({ image }) => image)));
  const images: SourceAsset[] = [];
  let bytes = 0;
  for (const { image, replaces } of wanted) {
    if (hashesOf([image]).some((hash) => !kept.has(hash))) continue;
    const { id: assetId, prompt } = image;
    const done = await replaceImage(tx, article, { assetId, replaces, prompt, image });
    if (done === null) continue;
    images.push(image);
    bytes += done.grownBy;
  }
  return { images, bytes };
}

async function describeImages(tx: Tx, articleId: ArticleId, altTexts: Changed['altTexts']) {
  if (altTexts.length === 0) return [];
  const { rows } = await sql<{ id: AssetId; role: string }>`
    UPDATE assets SET alt_text = given.text
    FROM unnest(${altTexts.map(([id]) => id)}::uuid[], ${altTexts.map(([, text]) => text)}::text[]) AS given (id, text)
    WHERE article_id = ${articleId} AND assets.id = given.id
    RETURNING assets.id, role`.execute(tx);
  return rows;
}

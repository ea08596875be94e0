import { sql } from 'kysely';
import type { AssetId } from '../ids.ts';

/** Maximum bytes of an image. */
export const MAX_IMAGE_BYTES = 20 * 1024 * 1024;
/** Maximum characters of an alternative text. */
export const MAX_ALT_TEXT = 1_000;
/** Maximum characters of a file name. */
export const MAX_FILE_NAME = 255;
/** Accepted image formats: those that `imageMediaType` recognises. */
export const IMAGE_MEDIA_TYPES = [
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'image/avif',
  'image/svg+xml',
] as const;

/**
 * The path that serves an image, its preview or its thumbnail to readers, relative to the service: the asset's id cannot
 * be guessed, and the mark of the bytes changes the path whenever they change.
 */
export const assetPath = (id: AssetId, contentHash: string): string =>
  `/assets/${id}/${contentMark(contentHash)}`;

const MARK_CHARACTERS = 16;

/** The first characters of a content hash. */
export const contentMark = (contentHash: string): string => contentHash.slice(0, MARK_CHARACTERS);

/** SQL: the mark of the hash in a column. */
export const markOf = (column: string) => sql<string>`left(${sql.ref(column)}, ${sql.lit(MARK_CHARACTERS)})`;

import type { AssetId } from '../ids.ts';

/** Bytes one image may have. */
export const MAX_IMAGE_BYTES = 20 * 1024 * 1024;
/** Characters of an alternative text. */
export const MAX_ALT_TEXT = 1_000;
/** Characters of a file's name. */
export const MAX_FILE_NAME = 255;
/** The formats an image may have: those that `imageMediaType` recognises. */
export const IMAGE_MEDIA_TYPES = [
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'image/avif',
  'image/svg+xml',
] as const;

/**
 * Where an image is served to readers, relative to the service: the asset's id cannot be guessed, and the
 * mark of its bytes makes the address a new one whenever they change.
 */
export const assetPath = (asset: { id: AssetId; content_hash: string }): string =>
  `/assets/${asset.id}/${contentMark(asset.content_hash)}`;

/** The first characters of a content hash. */
export const contentMark = (contentHash: string): string => contentHash.slice(0, 16);

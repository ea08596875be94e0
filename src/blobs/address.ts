import type { AssetId } from '../ids.ts';

/**
 * Where an image is served to readers, relative to the service: the asset's id cannot be guessed, and the
 * mark of its bytes makes the address a new one whenever they change.
 */
export const assetPath = (asset: { id: AssetId; content_hash: string }): string =>
  `/assets/${asset.id}/${contentMark(asset.content_hash)}`;

/** The first characters of a content hash. */
export const contentMark = (contentHash: string): string => contentHash.slice(0, 16);

import type { AssetId } from '../../ids.ts';
import type { DocumentJson } from '../format/schema.ts';

/** An image of the source: the fields that its copy in the translation gets. */
export interface SourceAsset {
  readonly id: AssetId;
  readonly role: 'hero' | 'inline';
  readonly contentHash: string;
  readonly mediaType: string;
  readonly byteSize: number;
  readonly fileName: string;
  readonly altText: string;
  /** Pixels; null where unknown. */
  readonly width: number | null;
  readonly height: number | null;
  readonly previewHash: string | null;
  readonly thumbnailHash: string | null;
  /** Of preview and thumbnail; `byteSize` is the image's own. */
  readonly variantBytes: number;
  /** What the image was generated from. */
  readonly prompt: string | null;
}

/**
 * Bytes of the images in the storage quota, with their previews and thumbnails. Images of jobs that the release before
 * queued have none of these.
 */
export const bytesOf = (assets: readonly Pick<SourceAsset, 'byteSize' | 'variantBytes'>[]): number =>
  assets.reduce((sum, { byteSize, variantBytes }) => sum + byteSize + (variantBytes ?? 0), 0);

/** The image with the bytes of another one; its id, role, file name and alternative text stay. */
export const withBytesOf = (image: SourceAsset, other: SourceAsset): SourceAsset => ({
  ...other,
  id: image.id,
  role: image.role,
  fileName: image.fileName,
  altText: image.altText,
});

/** The source of a job, as it was when the job was created. */
export interface Snapshot {
  readonly title: string;
  readonly metaTitle: string | null;
  readonly metaDescription: string | null;
  readonly targetKeywords: readonly string[];
  readonly secondaryKeywords: readonly string[];
  readonly document: DocumentJson;
  /** With the cover. */
  readonly assets: readonly SourceAsset[];
}

import type { NewBlob } from '../blobs/references.ts';

/** The format of previews and thumbnails. */
export const VARIANT_MEDIA_TYPE = 'image/webp';

/** An image whose bytes were decoded, not stored yet. */
export interface ProcessedImage extends NewBlob {
  readonly mediaType: string;
  /** Pixels; null of an image that has none, as an SVG without a size. */
  readonly width: number | null;
  readonly height: number | null;
  /** A WebP at most 1,200 pixels wide; null where the image itself serves. */
  readonly preview: NewBlob | null;
  /** A WebP at most 320 pixels wide; null of formats that are passed on as they are. */
  readonly thumbnail: NewBlob | null;
}

/** What is stored of an image: its own bytes, preview and thumbnail. */
export const blobsOf = (image: ProcessedImage): NewBlob[] =>
  [image, image.preview, image.thumbnail].filter((blob) => blob !== null);

/** Bytes of an image in the storage quota; `storedBytes` is the same of a row. */
export const storedBytesOf = (image: ProcessedImage): number =>
  blobsOf(image).reduce((sum, { bytes }) => sum + bytes.byteLength, 0);

/** Decodes images in a process of its own. */
export interface MediaProcessor {
  /**
   * An uploaded image, in its format and with its pixels, without metadata.
   * @param pointer the field to blame
   * @throws {ServiceError} INVALID_REQUEST for bytes that are no image of their type; SERVICE_UNAVAILABLE with a wait when
   *   nothing is free to decode it
   */
  processUpload(bytes: Uint8Array, pointer: string): Promise<ProcessedImage>;
  /**
   * A generated image as a WebP, at most 1,600 pixels wide as a cover and 1,200 in the body.
   * @throws {ServiceError} as above
   */
  processGenerated(bytes: Uint8Array, role: 'hero' | 'inline'): Promise<ProcessedImage>;
  /** Ends the process. */
  close(): Promise<void>;
}

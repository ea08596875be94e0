import { imageMediaType } from '../articles/media-type.ts';
import { invalid } from '../errors.ts';
import type { BlobStore, StoredBlob } from './blob-store.ts';

/** An image whose bytes are kept, before any row names them. */
export interface StoredImage extends StoredBlob {
  readonly mediaType: string;
}

/**
 * Recognises an image by its own bytes, whatever it was called, and keeps them. Blobs that no row comes to
 * name cost nobody's quota and are found again by whoever stores the same bytes.
 * @param pointer the field to blame
 * @throws {ServiceError} INVALID_REQUEST when the bytes are no image
 */
export async function storeImage(blobs: BlobStore, bytes: Uint8Array, pointer: string): Promise<StoredImage> {
  const mediaType = imageMediaType(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  if (mediaType === null) throw invalid(pointer, 'The file is no PNG, JPEG, GIF, WebP, AVIF or SVG image.');
  return { ...(await blobs.put(bytes)), mediaType };
}

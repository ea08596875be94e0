import { contentHashOf } from '../blobs/blob-store.ts';
import { imageMediaType } from '../blobs/media-type.ts';
import type { NewBlob } from '../blobs/references.ts';
import { invalid } from '../errors.ts';

/** A recognised image, not stored yet. */
export interface NewImage extends NewBlob {
  readonly mediaType: string;
}

/**
 * Recognises an image by its bytes, whatever its name says.
 * @param pointer the field to blame
 * @throws {ServiceError} INVALID_REQUEST when the bytes are not an image
 */
export async function readImage(bytes: Uint8Array, pointer: string): Promise<NewImage> {
  const mediaType = imageMediaType(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  if (mediaType === null)
    throw invalid(pointer, 'The file is not a PNG, JPEG, GIF, WebP, AVIF or SVG image.');
  return { bytes, contentHash: await contentHashOf(bytes), mediaType };
}

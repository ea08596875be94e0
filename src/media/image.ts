import { contentHashOf } from '../blobs/blob-store.ts';
import { imageMediaType } from '../blobs/media-type.ts';
import { invalid } from '../errors.ts';
import type { ProcessedImage } from './media.ts';

/**
 * Recognises an image by its bytes, whatever its name says.
 * @param pointer the field to blame
 * @throws {ServiceError} INVALID_REQUEST when the bytes are not an image
 */
export async function readImage(bytes: Uint8Array, pointer: string): Promise<ProcessedImage> {
  const mediaType = imageMediaType(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  if (mediaType === null)
    throw invalid(pointer, 'The file is not a PNG, JPEG, GIF, WebP, AVIF or SVG image.');
  const contentHash = await contentHashOf(bytes);
  return { bytes, contentHash, mediaType, width: null, height: null, preview: null, thumbnail: null };
}

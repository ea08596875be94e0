import { readFile, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { MAX_IMAGE_BYTES } from '../blobs/asset.ts';
import { imageMediaType } from '../blobs/media-type.ts';
import { errorCode } from '../error-text.ts';

/** A local image of an imported file. */
export interface LocalImage {
  readonly bytes: Buffer;
  readonly mediaType: string;
  readonly fileName: string;
}

/** The image, or a problem, worded to follow its name. */
export type LocalImageResult =
  | { readonly ok: true; readonly image: LocalImage }
  | { readonly ok: false; readonly problem: string };

const failed = (problem: string): LocalImageResult => ({ ok: false, problem });

/**
 * Reads an image that a Markdown file names relative to its own folder. Reads only files inside that folder, after
 * following symbolic links: an article from elsewhere must not expose other files of the machine.
 */
export async function readLocalImage(folder: string, imagePath: string): Promise<LocalImageResult> {
  try {
    const root = await realpath(folder);
    const file = await realpath(path.resolve(root, imagePath));
    if (!file.startsWith(root.endsWith(path.sep) ? root : root + path.sep)) {
      return failed("is outside the article's folder");
    }
    const found = await stat(file);
    if (!found.isFile()) return failed('is not a file');
    if (found.size > MAX_IMAGE_BYTES) return failed(`is larger than ${MAX_IMAGE_BYTES} bytes`);
    const bytes = await readFile(file);
    const mediaType = imageMediaType(bytes);
    if (mediaType === null) return failed('is not a PNG, JPEG, GIF, WebP, AVIF or SVG image');
    return { ok: true, image: { bytes, mediaType, fileName: path.basename(imagePath).normalize('NFC') } };
  } catch (error) {
    const code = errorCode(error);
    if (code === undefined) throw error;
    return failed(code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`);
  }
}

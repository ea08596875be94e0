import { readFile, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { MAX_IMAGE_BYTES } from '../blobs/asset.ts';
import { errorCode } from '../error-text.ts';
import { ServiceError } from '../errors.ts';
import type { ProcessedImage } from '../media/media.ts';

/** A local image of an imported file. */
export interface LocalImage {
  readonly image: ProcessedImage;
  readonly fileName: string;
}

/** @throws {ServiceError} INVALID_REQUEST for bytes that are no image */
export type ReadImage = (bytes: Uint8Array) => Promise<ProcessedImage>;

/** The image, or a problem, worded to follow its name. */
export type LocalImageResult =
  | ({ readonly ok: true } & LocalImage)
  | { readonly ok: false; readonly problem: string };

const failed = (problem: string): LocalImageResult => ({ ok: false, problem });

/**
 * Reads an image that a Markdown file names relative to its own folder. Reads only files inside that folder, after
 * following symbolic links: an article from elsewhere must not expose other files of the machine.
 */
export async function readLocalImage(
  folder: string,
  imagePath: string,
  readImage: ReadImage,
): Promise<LocalImageResult> {
  try {
    const root = await realpath(folder);
    const file = await realpath(path.resolve(root, imagePath));
    if (!file.startsWith(root.endsWith(path.sep) ? root : root + path.sep)) {
      return failed("is outside the article's folder");
    }
    const found = await stat(file);
    if (!found.isFile()) return failed('is not a file');
    if (found.size > MAX_IMAGE_BYTES) return failed(`is larger than ${MAX_IMAGE_BYTES} bytes`);
    const image = await readImage(await readFile(file));
    return { ok: true, image, fileName: path.basename(imagePath).normalize('NFC') };
  } catch (error) {
    const [issue] =
      error instanceof ServiceError && error.code === 'INVALID_REQUEST' ? (error.issues ?? []) : [];
    if (issue !== undefined) return failed(`cannot be used: ${issue.detail.replace(/\.$/, '')}`);
    const code = errorCode(error);
    if (code === undefined) throw error;
    return failed(code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`);
  }
}

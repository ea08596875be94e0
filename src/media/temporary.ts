import sharp from 'sharp';
import { contentHashOf } from '../blobs/blob-store.ts';
import { invalid } from '../errors.ts';
import { readImage } from './image.ts';
import type { MediaProcessor } from './media.ts';

/** Decodes in this process, until the process of its own is merged. */
export const createMediaProcessor = (): MediaProcessor => ({
  processUpload: readImage,
  async processGenerated(bytes, role) {
    const scaled = async (width: number) => {
      try {
        const { data, info } = await sharp(bytes)
          .resize({ width, withoutEnlargement: true })
          .webp()
          .toBuffer({ resolveWithObject: true });
        return { bytes: data, contentHash: await contentHashOf(data), info };
      } catch {
        throw invalid('', 'not an image');
      }
    };
    const { info, ...image } = await scaled(role === 'hero' ? 1_600 : 1_200);
    return {
      ...image,
      mediaType: 'image/webp',
      width: info.width,
      height: info.height,
      preview: role === 'hero' ? await scaled(1_200) : null,
      thumbnail: await scaled(320),
    };
  },
  close: () => Promise.resolve(),
});

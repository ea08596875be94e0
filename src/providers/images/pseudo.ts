import sharp from 'sharp';
import type { ImageStyle } from '../../db/tables.ts';
import { IMAGE_SIZE, type ImageModel, type ImageRequest } from '../image-model.ts';
import { corporateTech, editorial, render3d, watercolor } from './compositions.ts';
import { cinematic, illustration, minimalistVector, photorealistic } from './landscapes.ts';
import { placeholderMark } from './placeholder-mark.ts';
import { Chance, type Scene } from './shapes.ts';

const SCENES: Readonly<Record<ImageStyle, Scene>> = {
  photorealistic,
  editorial,
  'minimalist-vector': minimalistVector,
  '3d-render': render3d,
  watercolor,
  'corporate-tech': corporateTech,
  cinematic,
  illustration,
};

/** A scene of shapes in a style, drawn from prompt and seed and marked as a placeholder: an SVG of `IMAGE_SIZE`. */
export function drawScene({ prompt, style, seed }: Pick<ImageRequest, 'prompt' | 'style' | 'seed'>): string {
  const shapes = SCENES[style](new Chance(JSON.stringify([style, prompt, seed])));
  const { width, height } = IMAGE_SIZE;
  const opening = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`;
  return [opening, ...shapes, placeholderMark(), '</svg>'].join('\n');
}

/**
 * The offline default without a model (contract.md G96): scenes as PNG, since what models draw is never taken as SVG.
 * Deterministic.
 */
export const createPseudoImageModel = (): ImageModel => ({
  name: 'pseudo',
  modelOf: () => 'pseudo',
  async draw(request) {
    request.signal.throwIfAborted();
    // Little compression: it is encoded again.
    return sharp(Buffer.from(drawScene(request)))
      .png({ compressionLevel: 1 })
      .toBuffer();
  },
});

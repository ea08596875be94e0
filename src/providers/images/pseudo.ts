import type { ImageStyle } from '../../db/tables.ts';
import { IMAGE_SIZE, type ImageModel } from '../image-model.ts';
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

/**
 * The offline default without a model: a scene of shapes in the style that was asked for, drawn from prompt and seed and
 * marked as a placeholder (contract.md G96), as an SVG of `IMAGE_SIZE`. Deterministic.
 */
export const createPseudoImageModel = (): ImageModel => ({
  name: 'pseudo',
  modelOf: () => 'pseudo',
  async draw({ prompt, style, seed, signal }) {
    signal.throwIfAborted();
    const shapes = SCENES[style](new Chance(JSON.stringify([style, prompt, seed])));
    const { width, height } = IMAGE_SIZE;
    const opening = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`;
    return Buffer.from([opening, ...shapes, placeholderMark(), '</svg>'].join('\n'));
  },
});

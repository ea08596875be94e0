import { IMAGE_SIZE, type ImageModel } from '../image-model.ts';
import { placeholderMark } from './placeholder-mark.ts';
import { SCENES } from './scenes.ts';
import { Chance } from './shapes.ts';

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

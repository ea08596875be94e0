/** What the styles of images mean, in words for a model. */
import type { ImageStyle } from '../../db/tables.ts';
import type { ImageRequest } from '../image-model.ts';

export const STYLE_WORDS: Readonly<Record<ImageStyle, string>> = {
  photorealistic:
    'A photograph: natural light, true colours, real materials, the depth of field of a good lens.',
  editorial:
    'An editorial picture for a magazine: one clear idea, a strong composition with room around it, few colours.',
  'minimalist-vector':
    'A minimalist vector drawing: flat shapes, two or three colours, clean edges, much empty space.',
  '3d-render':
    'A 3D rendering: soft rounded forms, smooth materials, studio light from one side, gentle shadows.',
  watercolor:
    'A watercolour painting: transparent washes, colours that run into one another, visible paper, soft edges.',
  'corporate-tech':
    'A clean picture for a technology company: cool blues, orderly geometry, subtle gradients, bright and calm.',
  cinematic:
    'A still from a film: wide framing, dramatic light from one direction, deep shadows, rich graded colours.',
  illustration: 'A hand-drawn illustration: confident lines, warm flat colours, visible texture, friendly.',
};

/** What a model is asked for. */
export const promptOf = ({ prompt, style, role }: ImageRequest): string =>
  [
    prompt.trim(),
    STYLE_WORDS[style],
    role === 'hero'
      ? 'It is the cover of an article: wide, with its subject near the middle.'
      : 'It stands in the text of an article.',
    'No text, letters, numbers, logos, watermarks or frames.',
  ].join('\n');

import { z } from 'zod';
import type { ImageStyle } from '../../../db/tables.ts';
import { strictSchema } from '../../../providers/strict-schema.ts';
import { imagePromptTokens } from '../output-tokens.ts';
import type { Asking, Prompt } from './shared.ts';

export const imagePromptsOutput = z.object({
  images: z.array(
    z.object({
      section: z.int().describe('The number of the section that it stands in; 0 for the cover.'),
      prompt: z.string().describe('What is to be seen, in English.'),
      altText: z.string().describe('At most 125 characters.'),
      caption: z.string().describe('One sentence; empty for none.'),
    }),
  ),
});

export type ImagePromptsOutput = z.output<typeof imagePromptsOutput>;

/** How many images an article gets. */
export interface WantedImages {
  readonly cover: boolean;
  /** Images in the text. */
  readonly inline: number;
}

const countOf = ({ cover, inline }: WantedImages): number => inline + (cover ? 1 : 0);

export interface ImagePromptsQuestion extends Asking<'imagePrompts'> {
  readonly images: WantedImages;
  readonly styles: Readonly<Record<'hero' | 'inline', ImageStyle>>;
  /** Numbers of the sections that images can stand in. */
  readonly sections: readonly number[];
}

export const imagePromptsPrompt: Prompt<ImagePromptsQuestion> = {
  version: 2,
  schema: strictSchema(imagePromptsOutput),
  tokens: ({ images }) => imagePromptTokens(countOf(images)),
  data: ({ images, styles, sections }) => ({
    imageCount: countOf(images),
    coverStyle: images.cover ? styles.hero : undefined,
    inlineStyle: images.inline > 0 ? styles.inline : undefined,
    sections: images.inline > 0 ? sections : undefined,
  }),
  task: ({ images: { cover, inline } }) => [
    'The article is finished; the lines above are its text. Now say what its images show. They are made from your words alone, by somebody who has not read the article.',
    'Give exactly `imageCount` images, the cover first, then the others in the order of the text.',
    ...(cover
      ? [
          'The cover has `section` 0. It shows in one scene what the article is about, so that a reader who sees it among others recognises the topic.',
        ]
      : ['There is no cover: no image has `section` 0.']),
    ...(inline > 0
      ? [
          'Each of the others stands in one of `sections`, in one of its own as long as there are enough, spread over the article. Choose the sections where a picture shows what words take long to say: a step, a state, a difference that can be seen.',
        ]
      : []),
    '`prompt`, in English whatever the language of the article, 25 to 70 words: who or what, doing what, where, seen from where, in what light. Only what can be seen, no ideas and no moods by name. It suits `coverStyle` or `inlineStyle`; the style is added to it, so do not describe it. No two images show the same.',
    'Good: “A gardener in rubber boots tips a full watering can over a bed of young tomato plants, seen from knee height, early morning sun from the left, long shadows on dark wet soil.” Bad: “The importance of watering.” “An infographic with five steps.” “A happy person.”',
    'No text, letters, numbers, signs, screens with writing, diagrams or maps. No brands or logos, no living or dead person who could be recognised.',
    '`altText`, in the language of the article, at most 125 characters: what is seen that matters here, as you would describe it by phone, without “image of”. `caption`, in the language of the article: one sentence that adds what the picture cannot say and the text does; no figure or name that is not in the text; empty where it would only repeat the picture. Both are plain text.',
  ],
};

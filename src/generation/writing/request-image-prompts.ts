/** The images of an article: where each stands and what it shows, in one call for all. */
import type { ImageStyle } from '../../db/tables.ts';
import type { ArticleSoFar, WritingBrief } from './brief.ts';
import type { ArticleWriter } from './writer.ts';

/** An image to draw, and its texts. */
export interface ImagePrompt {
  readonly role: 'hero' | 'inline';
  /** The section of the outline that it stands in; null for the cover. */
  readonly sectionId: string | null;
  readonly style: ImageStyle;
  /** What is to be seen, in English, for an image model. */
  readonly prompt: string;
  /** In the language of the article, plain text, at most `MAX_ALT_TEXT` characters; never empty. */
  readonly altText: string;
  /** In the language of the article, plain text; null for none. */
  readonly caption: string | null;
}

export interface ImagePromptsRequest {
  readonly brief: WritingBrief;
  /** The finished text, after the editor's pass. */
  readonly article: ArticleSoFar;
  /** False when no cover is wanted. */
  readonly cover: boolean;
  /** Images in the text. */
  readonly inline: number;
  readonly styles: { readonly hero: ImageStyle; readonly inline: ImageStyle };
  /** Calls with a response in earlier attempts; 0 by default. */
  readonly answered?: number;
  readonly signal: AbortSignal;
}

/**
 * Requests the prompts of all images: the cover first, where one is wanted, then those in the text, in its order.
 * @returns exactly as many as were asked for
 * @throws {ProviderError} of the writer, or `unusable` when no response had a usable image; the signal's reason when aborted
 */
export async function requestImagePrompts(
  _writer: ArticleWriter,
  _request: ImagePromptsRequest,
): Promise<readonly ImagePrompt[]> {
  throw new Error('written in the next commit');
}

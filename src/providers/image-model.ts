/** The interface of models that draw images. */
import type { ImageStyle } from '../db/tables.ts';

/** One image that is requested of a model. */
export interface ImageRequest {
  /** What is to be seen, in English. */
  readonly prompt: string;
  readonly style: ImageStyle;
  readonly role: 'hero' | 'inline';
  readonly quality: 'standard' | 'hd';
  /** The same seed and prompt ask for the same image, where a model can. */
  readonly seed: number;
  readonly signal: AbortSignal;
}

/** A model that draws images. */
export interface ImageModel {
  readonly name: string;
  /** What its calls are listed under. */
  modelOf(quality: 'standard' | 'hd'): string;
  /**
   * The bytes of one image of a known format, not decoded yet; one call, without retries.
   * @throws {ProviderError} `refused` when the model declines or returns nothing, `unusable` when what it returned is no
   *   image: both are responses. Another kind without a response, `unanswered` when the model may have worked; or the
   *   signal's reason
   */
  draw(request: ImageRequest): Promise<Uint8Array>;
}

/** Pixels that are asked for: the shape of a cover, in steps of 16, which models need. */
export const IMAGE_SIZE = { width: 1_536, height: 864 } as const;

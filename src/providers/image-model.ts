import type { ImageStyle } from '../db/tables.ts';

/** One image that is requested of a model. */
export interface ImageRequest {
  readonly prompt: string;
  readonly style: ImageStyle;
  readonly role: 'hero' | 'inline';
  readonly quality: 'standard' | 'hd';
  /** The same seed and prompt ask for the same image, where a model can. */
  readonly seed: number;
  readonly signal: AbortSignal;
}

/** A model that draws images. What it returns is unchecked. */
export interface ImageModel {
  readonly name: string;
  /** What its calls are listed under. */
  modelOf(quality: 'standard' | 'hd'): string;
  /**
   * The bytes of one image; one call, without retries.
   * @throws {ProviderError} `refused` when the model declines or returns nothing, another kind without a response; or the
   *   signal's reason
   */
  draw(request: ImageRequest): Promise<Uint8Array>;
}

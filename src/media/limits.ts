/** What an image may be, and what is made of it (contract.md F46, F47, F48 and F49). */

/** Pixels of an image that is decoded. */
export const MAX_PIXELS = 40_000_000;
/** Pixels a side of an image that a person sends; a larger one is reduced. */
export const MAX_SIDE = 4_096;

interface Reduced {
  readonly width: number;
  readonly height: number;
  readonly maxBytes: number;
}

/** Tall pictures are bounded, too: a WebP has no more than 16,383 pixels a side. */
const reduced = (width: number, maxBytes: number): Reduced => ({ width, height: 2 * width, maxBytes });
export const PREVIEW = reduced(1_200, 512 * 1024);
export const THUMBNAIL = reduced(320, 64 * 1024);
export const GENERATED = {
  hero: { width: 1_600, height: 1_600, maxBytes: 1_400 * 1024 },
  inline: { width: 1_200, height: 1_600, maxBytes: 1_400 * 1024 },
};

/** The most that preview and thumbnail of an image take. */
export const MAX_VARIANT_BYTES = PREVIEW.maxBytes + THUMBNAIL.maxBytes;
/** The most that a generated image takes, its preview and thumbnail included. */
export const MAX_GENERATED_BYTES = 2 * 1024 * 1024;

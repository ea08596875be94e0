/** Bytes one image may have. */
export const MAX_IMAGE_BYTES = 20 * 1024 * 1024;
/** Characters of an alternative text. */
export const MAX_ALT_TEXT = 1_000;
/** Characters of a file's name. */
export const MAX_FILE_NAME = 255;
/** The formats an image may have: those that `imageMediaType` recognises. */
export const IMAGE_MEDIA_TYPES = [
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'image/avif',
  'image/svg+xml',
] as const;

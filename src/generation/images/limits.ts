/** Bounds of the images of a job. */

/** Calls for one image with a response, over all attempts (contract.md G104). */
export const MAX_IMAGE_ANSWERED = 2;
/** Calls for one image without a whole response. */
export const MAX_IMAGE_UNANSWERED = 4;

/** Images that a run draws at once, and processes. */
export const IMAGES_AT_ONCE = 3;

/** The longest attempt to draw, with the longest calls of IMAGE_TIMEOUT_SECONDS. */
export const DRAWING_MS = MAX_IMAGE_ANSWERED * 600_000 + 300_000;
/** The longest attempt to process: to read the bytes, to wait for the process that decodes, and to store. */
export const PROCESSING_MS = 300_000;
/** Attempts of a step that draws: some 10 minutes of failing, not counting its calls. */
export const IMAGE_ATTEMPTS = 15;

/** Bounds of the steps of research. */

/** The longest attempt to search and read: each of both waits its turn, and has its time. */
export const GATHERING_MS = 1_200_000;
/** Attempts of such a step: some minutes of failing, not counting its searches and pages. */
export const GATHERING_ATTEMPTS = 6;
/** Attempts of the calls of the model: some 5 minutes of failing. */
export const RESEARCHER_ATTEMPTS = 10;

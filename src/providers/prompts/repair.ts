import type { Prompt } from './shared.ts';

/** Translates texts again. It follows the instructions of a translation, so that all requests of a job begin alike. */
export const REPAIR: Prompt = {
  version: 1,
  instructions: () =>
    'When a later turn has "defects", by id, those translations cannot be used. Translate these texts again without the defects, and change nothing else in them.',
};

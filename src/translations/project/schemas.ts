import { z } from 'zod';
import { UNIT_STATES } from '../../document/refresh/types.ts';
import { languageTag } from '../../fields.ts';
import { nextCursor, pageQuery } from '../../http/paging.ts';
import { listedTranslation } from '../schemas.ts';

const stateFilter = z.enum([...UNIT_STATES, 'unknown']);
export type StateFilter = z.infer<typeof stateFilter>;

export const projectTranslationsQuery = pageQuery.extend({
  state: stateFilter.optional().meta({
    description:
      'Versions with at least one unit in this state. `unknown` lists those whose units have not been counted since either side changed.',
  }),
  language: languageTag.optional().meta({ description: 'Versions in this language.' }),
});

export const projectTranslationsResponse = z.object({
  translations: z.array(
    listedTranslation.extend({
      state: z
        .enum(['known', 'unknown'])
        .describe(
          '`unknown` when the units have not been counted since either side changed; `states` is null then, and is counted soon',
        ),
    }),
  ),
  unknown: z
    .int()
    .min(0)
    .describe(
      'How many of the versions looked at for this page have states that are not known yet. A filter by another state passes them over, so read the list again later while this is above 0.',
    ),
  nextCursor,
});

/** contract.md T61. */
export type ProjectTranslationPage = z.infer<typeof projectTranslationsResponse>;

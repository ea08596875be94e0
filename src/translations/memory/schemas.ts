import { z } from 'zod';
import { SEGMENT_KINDS } from '../../document/translation/segments.ts';
import { languageTag, timestamp, trimmedText, uuid } from '../../fields.ts';
import { nextCursor, pageQuery } from '../../http/paging.ts';

const WITHOUT_FORMATTING = 'Without formatting and code.';

const entrySchema = z
  .object({
    id: uuid,
    origin: z.enum(['people', 'engine']).meta({
      description: '`people`: a text of a version that people approved. `engine`: what an engine made.',
    }),
    kind: z.enum(SEGMENT_KINDS).meta({ description: 'What the text is; it serves texts of this kind.' }),
    sourceLanguage: z.string(),
    language: z.string().meta({ description: 'The language of the translation.' }),
    sourceText: z.string().meta({ description: WITHOUT_FORMATTING }),
    targetText: z.string().meta({ description: WITHOUT_FORMATTING }),
    projectId: uuid,
    article: z
      .object({ id: uuid, title: z.string() })
      .meta({ description: 'The version that has the text.' }),
    serves: z.boolean().meta({
      description:
        'False for a text of people while its version is not approved or published, or has changed since it was read.',
    }),
    createdAt: timestamp.meta({
      description: 'When people last approved or published the version, or when the engine made the text.',
    }),
  })
  .meta({ id: 'TranslationMemoryEntry' });

export type MemoryEntry = z.infer<typeof entrySchema>;

export const memoryPageSchema = z.object({ entries: z.array(entrySchema), nextCursor });

export type MemoryPage = z.infer<typeof memoryPageSchema>;

/** Longest text to look for, in characters. */
const MAX_WANTED = 100;

export const listMemoryQuery = pageQuery.extend({
  language: languageTag.optional().meta({ description: 'Only translations into this language.' }),
  q: trimmedText(1, MAX_WANTED).optional().meta({
    description: 'Only entries whose source text or translation has this text, in any case.',
  }),
});

import type { Selectable } from 'kysely';
import { z } from 'zod';
import { type Tables, VERDICTS } from '../db/tables.ts';
import { timestamp, uuid } from '../fields.ts';
import { MAX_QUOTE_WORDS } from './limits.ts';

export const sourceSchema = z
  .object({
    id: uuid,
    url: z.string().meta({ description: 'Where the page was read, after redirects.' }),
    title: z.string(),
    site: z.string().meta({ description: "The site's name, or its host." }),
    publishedAt: timestamp.nullable().meta({ description: 'As the page says; null where it does not.' }),
    fetchedAt: timestamp,
    notes: z
      .array(
        z.object({
          id: uuid,
          quote: z
            .string()
            .meta({ description: `At most ${MAX_QUOTE_WORDS} words that stand so in the page's text.` }),
        }),
      )
      .meta({ description: 'What the writer was given of it.' }),
  })
  .meta({ id: 'Source' });

export type Source = z.infer<typeof sourceSchema>;

export const claimSchema = z
  .object({
    id: uuid,
    blockId: z.string(),
    sentence: z.string().meta({ description: 'As it was when it was checked.' }),
    verdict: z.enum(VERDICTS).meta({
      description:
        'How the sentence compares with the passage. not_found says that no source decides it, not that it is false.',
    }),
    changed: z.boolean().meta({ description: 'The sentence no longer stands in its block.' }),
    sourceId: uuid.nullable(),
    passage: z
      .string()
      .nullable()
      .meta({ description: "Words of the source's text; null when nothing was found to compare with." }),
  })
  .meta({ id: 'Claim' });

export type Claim = z.infer<typeof claimSchema>;

type SourceRow = Omit<Selectable<Tables['article_sources']>, 'text' | 'bytes'>;

/** The wire form of a source's row. */
export const toSource = (row: SourceRow, notes: Source['notes']): Source => ({
  id: row.id,
  url: row.url,
  title: row.title,
  site: row.site,
  publishedAt: row.published_at?.toISOString() ?? null,
  fetchedAt: row.fetched_at.toISOString(),
  notes,
});

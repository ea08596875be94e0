import { z } from 'zod';
import { AUTHOR_KINDS } from '../../db/tables.ts';
import { timestamp, uuid } from '../../fields.ts';
import { nextCursor } from '../../http/paging.ts';
import { articleExample } from '../examples.ts';
import { articleSchema } from '../schemas.ts';

/** A revision in a list: without what it says below its title. */
const revisionSummarySchema = z
  .object({
    id: uuid,
    title: z.string(),
    wordCount: z.int().nullable(),
    author: z
      .object({
        kind: z.enum(AUTHOR_KINDS),
        id: uuid.nullable().meta({ description: "The key's or the job's; null for the operator." }),
      })
      .nullable()
      .meta({ description: 'Who wrote it; null where the article is older than its revisions.' }),
    savedAt: timestamp.nullable().meta({
      description: 'When its author first saved it; it includes what they saved in the five minutes after.',
    }),
    replacedAt: timestamp.meta({ description: 'When it was replaced.' }),
  })
  .meta({ id: 'RevisionSummary' });

/** contract.md V. */
export const revisionSchema = revisionSummarySchema
  .extend(
    articleSchema.pick({
      metaTitle: true,
      metaDescription: true,
      targetKeywords: true,
      secondaryKeywords: true,
      documentJson: true,
    }).shape,
  )
  .meta({ id: 'Revision' });

export const revisionPageSchema = z.object({ revisions: z.array(revisionSummarySchema), nextCursor });

export type RevisionSummary = z.infer<typeof revisionSummarySchema>;
export type RevisionPage = z.infer<typeof revisionPageSchema>;

/** For the reference page. */
export const summaryExample: RevisionSummary = {
  id: '019d2f4e-7a10-7c3b-9e52-4b8f6a1d0c37',
  title: articleExample.title,
  wordCount: articleExample.wordCount,
  author: { kind: 'api_key', id: '3a1f6b0c-9f5c-4f6a-8c35-0e6a4f1d2b77' },
  savedAt: '2026-11-21T07:30:00.000Z',
  replacedAt: '2026-11-21T08:10:00.000Z',
};

export const revisionExample = {
  ...summaryExample,
  metaTitle: articleExample.metaTitle,
  metaDescription: articleExample.metaDescription,
  targetKeywords: articleExample.targetKeywords,
  secondaryKeywords: articleExample.secondaryKeywords,
  documentJson: articleExample.documentJson,
};

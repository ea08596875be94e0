import { z } from 'zod';
import { JOB_STATUSES } from '../../db/tables.ts';
import { DEFECT_CODES } from '../../document/translation/checks/defects.ts';
import { OUTCOMES } from '../../document/translation/report.ts';
import { SEGMENT_KINDS } from '../../document/translation/segments.ts';

const count = (description: string) => z.int().min(0).describe(description);

const tally = z
  .object({
    total: count('All of them'),
    left: count("Without a usable translation: they carry the source's text, or stayed as they were"),
    accepted: count('Used with a defect that one repair did not remove'),
    repaired: count('Good after one repair'),
    memory: count('Reused from an earlier translation'),
    clean: count('Good at the first attempt'),
    open: count('Not translated yet, or never when the job failed or was cancelled'),
  })
  .meta({ id: 'TranslationTally' });

const entry = z.object({
  outcome: z.enum(OUTCOMES),
  blockId: z.string().nullable().describe('The block of a text of the body'),
  assetId: z.uuid().nullable().describe("The source's image of an alternative text outside the body"),
  field: z
    .string()
    .describe(
      'Which text: of a block `text`, `item.0`, `header.0`, `row.1.0`, `caption` and the like, with `.part.0` for a part of a long text and `.title.1` for the title of a link; else `title`, `metaTitle`, `metaDescription`, `targetKeyword.0`, `secondaryKeyword.0` or `alt`',
    ),
  kind: z.enum(SEGMENT_KINDS).nullable().describe('What the text is'),
  words: count('Words of the source'),
  defects: z
    .array(
      z.object({
        code: z.enum(DEFECT_CODES),
        message: z.string().nullable().describe('May quote the texts; null once RETENTION_DAYS are over'),
      }),
    )
    .describe('What is wrong, or was before the repair'),
});

export const reportSchema = z
  .object({
    jobId: z.uuid(),
    articleId: z.uuid().describe('The version that the job writes'),
    status: z.enum(JOB_STATUSES),
    sourceLanguage: z.string(),
    targetLanguage: z.string(),
    engine: z.string().nullable().describe('The engine that translates; null until chosen'),
    credits: z.object({
      estimated: z.int(),
      reserved: z.int(),
      consumed: z.int().describe('What was charged: what is left, or in another language, costs nothing'),
    }),
    texts: tally.describe('Number of texts by outcome'),
    words: tally.describe('Words of the source by outcome'),
    entries: z
      .array(entry)
      .describe('The texts that are not clean, the worst outcome first, then in reading order; 500 at most'),
    omitted: count('Further entries, not listed'),
  })
  .meta({ id: 'TranslationReport' });

export type Report = z.infer<typeof reportSchema>;

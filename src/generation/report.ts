import { sql } from 'kysely';
import { z } from 'zod';
import { requirePermissions, type VerbContext } from '../context.ts';
import { JOB_STATUSES, PART_KINDS } from '../db/tables.ts';
import { notFound } from '../errors.ts';
import type { JobId } from '../ids.ts';
import { completedJobExample } from '../jobs/examples.ts';
import { callSchema, toCall } from './call-report.ts';
import { type CallRow, readCalls } from './calls.ts';
import { readImages } from './images/images.ts';
import { imagesOfReport, imagesSchema } from './images/report.ts';
import type { Outline } from './outline.ts';
import { ofKind } from './parts.ts';
import { checksSchema, editingSchema, finishOf, leadSchema, repairs } from './report-finish.ts';
import { factsSchema, researchOf, researchSchema } from './report-research.ts';
import { MENDINGS } from './writing/markdown/mendings.ts';

const count = (description: string) => z.int().min(0).describe(description);
const mended = z
  .partialRecord(z.enum(MENDINGS), z.int().min(1))
  .describe('What was corrected in the text without a call, and how often');

export const generationReportSchema = z
  .object({
    jobId: z.uuid(),
    articleId: z.uuid(),
    status: z.enum(JOB_STATUSES),
    writer: z.string().nullable().describe('The provider and model that write; null until chosen'),
    credits: z.object({
      estimated: z.int(),
      reserved: z.int(),
      consumed: z.int().describe('What was charged'),
    }),
    words: count('In the sections written so far'),
    outline: z.object({
      approved: z.boolean().describe('True when the run started from an approved outline'),
      repairs,
    }),
    plan: z
      .object({
        used: z.boolean().describe('False when no plan was usable and the sections followed the outline'),
        repairs,
      })
      .nullable()
      .describe('How the text was planned; null until then, and once RETENTION_DAYS are over'),
    sections: z
      .array(
        z.object({
          kind: z.enum(['section', 'faq']),
          heading: z
            .string()
            .nullable()
            .describe(
              'Null for the questions at the end, in a job that is not COMPLETED, and once RETENTION_DAYS are over',
            ),
          words: count('As planned until it is written'),
          written: z.boolean(),
          takenOver: z.boolean().describe('Written by an earlier run of the article, which failed'),
          leftOut: z.boolean().describe('No usable response came: it was left out, and is not charged'),
          repairs,
          mended,
        }),
      )
      .describe('In the order of the article; none in a run that ends with the outline'),
    leftOut: z
      .array(z.string())
      .describe(
        'Ids of the sections of the outline that are not in the article. Where the last section is among them, the one before it was not written as an ending. Empty in a job that is not COMPLETED, and once RETENTION_DAYS are over',
      ),
    research: researchSchema,
    facts: factsSchema,
    editing: editingSchema,
    lead: leadSchema,
    checks: checksSchema,
    images: imagesSchema,
    calls: z
      .array(
        z.object({
          part: z
            .int()
            .nullable()
            .describe(
              'In the order in which they are made: those of research are below 0, the outline is 0; null for an image',
            ),
          image: z.int().nullable().describe('The number of the image, whose cover is 0; null for a part'),
          kind: z.enum([...PART_KINDS, 'image']).describe('What the call was for'),
          ...callSchema.shape,
          inputTokens: z.int().nullable(),
          cachedTokens: z.int().nullable().describe('Of the input: known to the model from earlier calls'),
          outputTokens: z.int().nullable(),
          reasoningTokens: z.int().nullable().describe('Of the output: thoughts before the text'),
        }),
      )
      .describe(
        'Calls of the model with a response, or whose response did not come whole, in order, until RETENTION_DAYS are over. Tokens as the model counted them, null where it did not say',
      ),
  })
  .meta({ id: 'GenerationReport' });

export type GenerationReport = z.infer<typeof generationReportSchema>;

/** For the reference page. */
export const generationReportExample: GenerationReport = {
  jobId: completedJobExample.id,
  articleId: completedJobExample.articleId,
  status: 'COMPLETED',
  writer: 'openai-compatible',
  credits: { estimated: 2, reserved: 2, consumed: 1 },
  words: 590,
  outline: { approved: true, repairs: [] },
  plan: { used: true, repairs: [] },
  sections: [
    {
      kind: 'section',
      heading: 'Look at the soil first',
      words: 281,
      written: true,
      takenOver: false,
      leftOut: false,
      repairs: [],
      mended: { link: 2 },
    },
    {
      kind: 'section',
      heading: 'What to sow, and when',
      words: 309,
      written: true,
      takenOver: false,
      leftOut: false,
      repairs: ['The text has 190 words. It should have 315.'],
      mended: {},
    },
  ],
  leftOut: [],
  research: {
    searches: 4,
    failedSearches: 0,
    pagesRead: 5,
    pagesNotUsed: [{ url: 'https://shop.example/soil', reason: 'forbidden by robots.txt' }],
    notes: 11,
    delivered: true,
    repairs: [],
  },
  facts: null,
  editing: {
    written: true,
    leftOut: false,
    edits: [
      {
        blockId: '3f1c5a0e9b7d4c2a8e6f1b0d5c7a9e3f-4',
        change: 'deleted',
        reason: 'Says what the first section says.',
      },
    ],
    refused: 1,
    unread: 0,
    repairs: [],
  },
  lead: { written: true, leftOut: false, words: 58, named: true, repairs: [] },
  checks: {
    nearCopies: [],
    sameHeadings: [],
    keyword: { inLead: true, inHeading: true, density: 0.012, tooDense: false },
    figures: [{ blockId: '3f1c5a0e9b7d4c2a8e6f1b0d5c7a9e3f-2', figure: '37' }],
    lengths: [
      { id: ' lead', planned: 60, words: 58 },
      { id: 'section-1', planned: 270, words: 281 },
      { id: 'section-2', planned: 270, words: 309 },
    ],
  },
  images: {
    requested: 1,
    delivered: 0,
    items: [
      {
        number: 0,
        role: 'hero',
        status: 'failed',
        assetId: null,
        reason: 'refused',
        answered: 1,
        unanswered: 0,
      },
    ],
  },
  calls: [
    {
      part: 0,
      image: null,
      kind: 'outline',
      model: 'gpt-oss-120b',
      outcome: 'answered',
      startedAt: '2026-03-02T08:30:04.120Z',
      milliseconds: 6_410,
      inputTokens: 612,
      cachedTokens: 0,
      outputTokens: 488,
      reasoningTokens: 130,
    },
  ],
};

/**
 * The report of a generation (articles.read); while the job is open, its state so far.
 * @throws {ServiceError} RESOURCE_NOT_FOUND, also for another kind of job
 */
export async function readGenerationReport(
  { db, actor }: VerbContext,
  jobId: JobId,
): Promise<GenerationReport> {
  requirePermissions(actor, 'articles.read');
  const job = await db
    .selectFrom('jobs')
    .innerJoin('generations', 'generations.job_id', 'jobs.id')
    .select(['id', 'article_id', 'status', 'writer', 'checks', 'researched'])
    .select([
      'estimated_credits as estimated',
      'reserved_credits as reserved',
      'consumed_credits as consumed',
    ])
    .where('jobs.workspace_id', '=', actor.workspaceId)
    .where('jobs.id', '=', jobId)
    .executeTakeFirstOrThrow(() => notFound('job'));
  const parts = await db
    .selectFrom('generation_parts')
    .select(['kind', 'asked', 'words', 'repairs', 'mended', 'left_out', 'taken_over'])
    .select([
      sql<boolean>`content IS NOT NULL`.as('written'),
      sql<string | null>`CASE WHEN kind = 'plan' THEN jsonb_typeof(content -> 'plan') END`.as('plan'),
      // Headings come from the outline: sections are too large to read for this.
      sql<Partial<Outline> | null>`CASE WHEN kind = 'outline' AND ${job.status} = 'COMPLETED' THEN content END`.as(
        'outline',
      ),
      sql<unknown>`CASE WHEN kind IN ('edits', 'corrections') THEN content WHEN kind = 'lead'
        THEN jsonb_build_object('named', jsonb_typeof(content -> 'names') = 'object') END`.as('finish'),
      sql<unknown>`CASE WHEN kind = 'notes' THEN jsonb_build_object('notes', jsonb_array_length(content -> 'notes'))
        WHEN kind = 'verdicts' THEN jsonb_build_object('compared', content -> 'compared',
          'verdicts', jsonb_path_query_array(content, '$.claims[*].verdict')) END`.as('found'),
    ])
    .where('job_id', '=', jobId)
    .orderBy('part')
    .execute();
  const calls = await readCalls(db, job.id);
  const [outline] = ofKind(parts, 'outline');
  const [plan] = ofKind(parts, 'plan');
  const sections = parts.flatMap(({ kind, ...part }) =>
    kind === 'section' || kind === 'faq' ? [{ kind, ...part }] : [],
  );
  const { editing, corrections, lead } = finishOf(parts, job.status);
  return {
    jobId: job.id,
    articleId: job.article_id,
    status: job.status,
    writer: job.writer,
    credits: { estimated: job.estimated, reserved: job.reserved, consumed: job.consumed },
    words: sections.reduce(
      (sum, { written, words, left_out }) => sum + (written && !left_out ? words : 0),
      0,
    ),
    outline: {
      approved: outline?.written === true && !outline.asked,
      repairs: outline?.repairs ?? [],
    },
    plan: plan?.plan == null ? null : { used: plan.plan === 'object', repairs: plan.repairs },
    sections: sections.map(
      ({ kind, written, words, repairs, mended, left_out: leftOut, taken_over }, index) => ({
        kind,
        heading: outline?.outline?.sections?.[index]?.heading ?? null,
        words,
        written: written && !leftOut,
        takenOver: taken_over,
        leftOut,
        repairs,
        mended,
      }),
    ),
    leftOut: sections.flatMap((section, index) =>
      section.left_out ? (outline?.outline?.sections?.[index]?.id ?? []) : [],
    ),
    editing,
    lead,
    ...(await researchOf(db, job, parts, corrections)),
    checks: job.status === 'COMPLETED' ? ((job.checks ?? null) as GenerationReport['checks']) : null,
    images: imagesOfReport(await readImages(db, job.id)),
    calls: calls.map(toWritersCall),
  };
}

const toWritersCall = (row: CallRow): GenerationReport['calls'][number] => ({
  part: row.part,
  image: row.image,
  kind: row.kind,
  ...toCall(row),
  inputTokens: row.input_tokens,
  cachedTokens: row.cached_tokens,
  outputTokens: row.output_tokens,
  reasoningTokens: row.reasoning_tokens,
});

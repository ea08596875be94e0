import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import type { JobStatus, JobStep } from '../db/tables.ts';
import type { JobId } from '../ids.ts';

/** Steps of a generation in order, with the status and the progress on entering each. */
const STEPS = [
  { step: 'validate', status: 'VALIDATING', progress: 2 },
  { step: 'research', status: 'RESEARCHING', progress: 5 },
  { step: 'outline', status: 'OUTLINING', progress: 10 },
  { step: 'write', status: 'WRITING', progress: 20 },
  { step: 'image-prompts', status: 'GENERATING_IMAGE_PROMPTS', progress: 75 },
  { step: 'images', status: 'GENERATING_IMAGES', progress: 78 },
  { step: 'media-processing', status: 'PROCESSING_MEDIA', progress: 94 },
  { step: 'finalize', status: 'FINALIZING', progress: 96 },
] as const satisfies readonly { step: JobStep; status: JobStatus; progress: number }[];

export type GenerationStep = (typeof STEPS)[number]['step'];

const progressAt = (step: GenerationStep): number => STEPS.find((each) => each.step === step)?.progress ?? 0;
const WRITING_FROM = progressAt('write');
const WRITING_TO = progressAt('image-prompts');
const DRAWING_FROM = progressAt('images');
const DRAWING_TO = progressAt('media-processing');

/**
 * Moves a job to a step, unless it is past it. Idempotent.
 * @param reached the progress on entering it, of a job that has not all steps
 * @returns false when the job has ended
 */
export async function enterStep(
  db: Database,
  jobId: JobId,
  step: GenerationStep,
  reached?: number,
): Promise<boolean> {
  const at = STEPS.findIndex((each) => each.step === step);
  const before = STEPS.slice(0, at).map((each) => each.status);
  const { status, progress } = STEPS[at] ?? STEPS[0];
  const isBefore = sql<boolean>`status = ANY (${before}::text[])`;
  const { numUpdatedRows } = await db
    .updateTable('jobs')
    .set((eb) => ({
      status: eb.case().when(isBefore).then(status).else(eb.ref('status')).end(),
      current_step: eb.case().when(isBefore).then(step).else(eb.ref('current_step')).end(),
      progress: eb.fn<number>('greatest', ['progress', eb.val(reached ?? progress)]),
    }))
    .where('id', '=', jobId)
    .where('ended_at', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Sets the progress of a writing job from its written sections. */
export async function showWritten(db: Database, jobId: JobId): Promise<void> {
  await sql`
    UPDATE jobs SET progress = greatest(progress, (
      SELECT ${WRITING_FROM}::integer + floor(${WRITING_TO - WRITING_FROM}::numeric * count(content) / count(*))::integer
      FROM generation_parts WHERE job_id = ${jobId} AND kind IN ('section', 'faq')))
    WHERE id = ${jobId} AND status = 'WRITING'`.execute(db);
}

/** Sets the progress of a job that draws from its drawn images, and those that failed. */
export async function showDrawn(db: Database, jobId: JobId): Promise<void> {
  await sql`
    UPDATE jobs SET progress = greatest(progress, (
      SELECT ${DRAWING_FROM}::integer + floor(${DRAWING_TO - DRAWING_FROM}::numeric
        * count(*) FILTER (WHERE state <> 'prompted') / count(*))::integer
      FROM generation_images WHERE job_id = ${jobId}))
    WHERE id = ${jobId} AND status = 'GENERATING_IMAGES'`.execute(db);
}

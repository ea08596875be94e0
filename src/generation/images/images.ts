/** The images of a job as rows, and what leads from one state to the next. */
import { type Selectable, sql } from 'kysely';
import { nameBlobs, type StagedBlobs } from '../../blobs/references.ts';
import type { Database, Queryable, Tx } from '../../db/database.ts';
import type { ImageFailure, StoredMedia, Tables } from '../../db/tables.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { JobId } from '../../ids.ts';
import { lockOpenJob } from '../../jobs/run-state.ts';

export type GenerationImage = Omit<Selectable<Tables['generation_images']>, 'job_id'>;

/** A job's images in order, the cover first. */
export const readImages = (db: Queryable, jobId: JobId): Promise<GenerationImage[]> =>
  db
    .selectFrom('generation_images')
    .select([
      'number',
      'role',
      'asset_id',
      'replaces',
      'quality',
      'style',
      'section',
      'prompt',
      'alt_text',
      'caption',
    ])
    .select(['state', 'reason', 'asked', 'calls', 'unanswered', 'drawn_hash', 'processed'])
    .where('job_id', '=', jobId)
    .orderBy('number')
    .execute();

/** One of a job's images. @throws {Error} when there is none */
export async function readImageOf(db: Queryable, jobId: JobId, number: number): Promise<GenerationImage> {
  const image = (await readImages(db, jobId)).find((each) => each.number === number);
  if (image === undefined) throw new Error(`job ${jobId} has no image ${number}`);
  return image;
}

/** The numbers of the images of a job that have a prompt and are not drawn. */
export const imagesToDraw = async (db: Queryable, jobId: JobId): Promise<number[]> =>
  (await readImages(db, jobId)).filter(({ state }) => state === 'prompted').map(({ number }) => number);

/** What became of an image. */
export type ImageOutcome = 'delivered' | ImageFailure;

/** What became of each image of a settled run. */
export const imageOutcomes = async (db: Queryable, jobId: JobId): Promise<ImageOutcome[]> =>
  (await readImages(db, jobId)).map(({ reason }) => reason ?? 'delivered');

interface Numbered {
  readonly jobId: JobId;
  readonly number: number;
}

/** Ends an image that the article does without. One that has ended stays as it is. */
export const failImage = (
  db: Queryable,
  { jobId, number }: Numbered,
  reason: ImageFailure,
): Promise<unknown> =>
  sql`
  UPDATE generation_images SET state = 'failed', reason = ${reason}
  WHERE job_id = ${jobId} AND number = ${number} AND state NOT IN ('delivered', 'failed')`.execute(db);

/** Keeps why the last attempt did not bring an image further: its reason if none does. */
export const noteReason = (
  db: Queryable,
  { jobId, number }: Numbered,
  reason: ImageFailure,
): Promise<unknown> =>
  sql`
  UPDATE generation_images SET reason = ${reason}
  WHERE job_id = ${jobId} AND number = ${number} AND state NOT IN ('delivered', 'failed')`.execute(db);

/** Stores what a model drew, unless another attempt has. */
export const storeDrawn = (
  db: Database,
  { jobId, number }: Numbered,
  drawn: { readonly hash: string; readonly staged: StagedBlobs },
): Promise<void> =>
  inTransaction(db, async (tx) => {
    const { rows } = await sql`
      WITH job AS (${lockOpenJob(jobId)})
      UPDATE generation_images SET state = 'drawn', drawn_hash = ${drawn.hash}, reason = NULL, asked = true
      FROM job WHERE job_id = job.id AND number = ${number} AND state = 'prompted'
      RETURNING number`.execute(tx);
    if (rows.length > 0) await keepForJob(tx, jobId, drawn.staged);
  });

/** Stores what will be the asset, unless another attempt has. */
export const storeProcessed = (
  db: Database,
  { jobId, number }: Numbered,
  { image, staged }: { readonly image: StoredMedia; readonly staged: StagedBlobs },
): Promise<void> =>
  inTransaction(db, async (tx) => {
    const { rows } = await sql`
      WITH job AS (${lockOpenJob(jobId)})
      UPDATE generation_images SET state = 'processed', processed = ${JSON.stringify(image)}::jsonb, reason = NULL
      FROM job WHERE job_id = job.id AND number = ${number} AND state = 'drawn'
      RETURNING number`.execute(tx);
    if (rows.length > 0) await keepForJob(tx, jobId, staged);
  });

/** Keeps stored bytes while the job is open. */
async function keepForJob(tx: Tx, jobId: JobId, staged: StagedBlobs): Promise<void> {
  await nameBlobs(tx, staged);
  await sql`
    INSERT INTO staged_blobs (hash, job_id) SELECT hash, ${jobId} FROM unnest(${[...staged.hashes]}::text[]) AS hash
    ON CONFLICT DO NOTHING`.execute(tx);
}

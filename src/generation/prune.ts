import { type PruneOptions, removeOlder } from '../db/batches.ts';
import type { Database } from '../db/database.ts';
import { pruneJobs } from '../jobs/prune.ts';

/** A long article has tens of sections. */
const JOBS_AT_ONCE = 100;
const CALLS_AT_ONCE = 5_000;

/**
 * Removes settings, voice, outline, sections, searches, pages and prompts of images of jobs that ended before the
 * retention, and calls that began before it. The jobs stay, and the figures of their reports but for the calls.
 * @returns number of generations
 */
export async function pruneGenerations(db: Database, options: PruneOptions): Promise<number> {
  const { retentionMs, onProgress } = options;
  await removeOlder(
    db,
    ['generation_calls', 'created_at'],
    { ageMs: retentionMs, limit: CALLS_AT_ONCE },
    onProgress,
  );
  await pruneImages(db, options);
  return pruneJobs(
    db,
    {
      table: 'generations',
      mark: 'config',
      atOnce: JOBS_AT_ONCE,
      async empty(tx, jobIds) {
        const nothing = {
          config: null,
          voice: null,
          template: null,
          document: null,
          checks: null,
          failure: null,
          linkable: null,
          own_title: null,
          own_keywords: null,
        };
        await tx.updateTable('generations').set(nothing).where('job_id', 'in', jobIds).execute();
        // Not null: the report still shows the part as written.
        await tx
          .updateTable('generation_parts')
          .set({ content: '{}', revised: null, key: null })
          .where('job_id', 'in', jobIds)
          .where('content', 'is not', null)
          .execute();
        for (const table of ['generation_searches', 'generation_pages'] as const) {
          await tx.deleteFrom(table).where('job_id', 'in', jobIds).execute();
        }
      },
    },
    options,
  );
}

/** Also of jobs that regenerate an image, which have nothing else. */
const pruneImages = (db: Database, options: PruneOptions): Promise<number> =>
  pruneJobs(
    db,
    {
      table: 'generation_images',
      mark: 'prompt',
      atOnce: JOBS_AT_ONCE,
      async empty(tx, jobIds) {
        await tx
          .updateTable('generation_images')
          .set({ prompt: null, alt_text: null, caption: null, drawn_hash: null, processed: null })
          .where('job_id', 'in', jobIds)
          .execute();
      },
    },
    options,
  );

import type { Database } from '../db/database.ts';
import { createWatch, type Watch } from '../http/watch.ts';
import type { JobId } from '../ids.ts';
import { jobColumns, jobTag, toJob } from './queries.ts';

/** Lets requests wait for a job to change: one statement each half second, 20 requests of a workspace at once. */
export type JobWatch = Watch<JobId>;

export const createJobWatch = (db: Database): JobWatch =>
  createWatch({
    everyMs: 500,
    perWorkspace: 20,
    what: 'jobs',
    async read(ids) {
      const rows = await db.selectFrom('jobs').select(jobColumns).where('id', 'in', ids).execute();
      return new Map(rows.map((row) => [row.id, jobTag(toJob(row))]));
    },
  });

import type { Database } from '../db/database.ts';
import type { JobId } from '../ids.ts';
import type { ProviderError } from '../providers/types.ts';

/** Keeps why no text was usable, and the cause if the parts before may share it (contract.md G89). */
export async function noteFailure(
  db: Database,
  jobId: JobId,
  { kind, message, defects }: ProviderError,
): Promise<void> {
  const shared = (['language', 'length'] as const).find((cause) => defects.includes(cause)) ?? null;
  await db
    .updateTable('generations')
    .set({ failure: message, failure_cause: kind === 'refused' ? 'refusal' : shared })
    .where('job_id', '=', jobId)
    .execute();
}

/** Why no text was usable, for the job's errorMessage; null when the job failed for another reason. */
export async function failureOf(db: Database, jobId: JobId): Promise<string | null> {
  const generation = await db
    .selectFrom('generations')
    .select('failure')
    .where('job_id', '=', jobId)
    .executeTakeFirst();
  return generation?.failure ?? null;
}

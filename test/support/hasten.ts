import { sql } from 'kysely';
import type { Database } from '../../src/db/database.ts';
import type { DeliveryId } from '../../src/ids.ts';
import { deliveryWorkflowId } from '../../src/temporal/ids.ts';
import type { Operator } from './temporal.ts';

/** Lets deliveries whose retry is less than nine minutes away be tried again now: those of runs, and those of none. */
export async function hastenRetries(db: Database, operator: Operator): Promise<void> {
  const { rows } = await sql<{ id: DeliveryId; in_run: boolean }>`
    UPDATE webhook_open SET due_at = CASE WHEN in_run THEN due_at ELSE now() END
    WHERE status = 'failed' AND burst_id IS NULL AND due_at BETWEEN now() + interval '1 second' AND now() + interval '9 minutes'
    RETURNING id, in_run`.execute(db);
  const runs = rows.filter(({ in_run }) => in_run).map(({ id }) => deliveryWorkflowId(id));
  // One that has just been begun, or is not known, does not wait. One that is reset again and again never begins.
  const hasten = async (run: string) => {
    if ((await operator.pendingActivity(run))?.isWaiting) await operator.reset(run);
  };
  await Promise.allSettled(runs.map(hasten));
}

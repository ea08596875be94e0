import { sql } from 'kysely';
import type { Database } from '../../../src/db/database.ts';
import type { JobStatus } from '../../../src/db/tables.ts';
import type { JobId } from '../../../src/ids.ts';

/** The statuses of a whole run, in their order. */
export const STEPS = [
  'VALIDATING',
  'OUTLINING',
  'WRITING',
  'GENERATING_IMAGE_PROMPTS',
  'GENERATING_IMAGES',
  'PROCESSING_MEDIA',
  'FINALIZING',
] as const satisfies readonly JobStatus[];

export type Step = (typeof STEPS)[number];

/** Any number that no other test locks. */
const GATE = 30;

/** What the database does when a job enters a step: nothing, refuse it for good, or wait at a gate. */
export interface StepControl {
  refuse(step: Step | null): Promise<void>;
  /** Holds whoever enters the step until `work` is done. */
  hold(step: Step, work: () => Promise<void>): Promise<void>;
  /** Whether somebody waits at the gate. */
  isHeld(): Promise<boolean>;
  /** Every status that a job had, with its step and progress on entering it. */
  movesOf(jobId: string): Promise<{ status: JobStatus; step: string | null; progress: number }[]>;
}

/** Watches how jobs move, by triggers, so that no step is missed or met too late. */
export async function controlSteps(db: Database): Promise<StepControl> {
  await sql`CREATE TABLE step_control (status text, does text)`.execute(db);
  await sql`CREATE TABLE step_moves (
    id bigint GENERATED ALWAYS AS IDENTITY, job_id uuid, status text, step text, progress integer)`.execute(
    db,
  );
  await sql`
    CREATE FUNCTION control_step() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE act text;
    BEGIN
      IF NEW.status IS NOT DISTINCT FROM OLD.status THEN RETURN NEW; END IF;
      SELECT does INTO act FROM step_control WHERE status = NEW.status;
      IF act = 'refuse' THEN RAISE check_violation USING MESSAGE = 'refused by the test'; END IF;
      IF act = 'hold' THEN PERFORM pg_advisory_xact_lock(${sql.lit(GATE)}); END IF;
      INSERT INTO step_moves (job_id, status, step, progress)
      VALUES (NEW.id, NEW.status, NEW.current_step, NEW.progress);
      RETURN NEW;
    END $$`.execute(db);
  await sql`CREATE TRIGGER control_step BEFORE UPDATE ON jobs FOR EACH ROW EXECUTE FUNCTION control_step()`.execute(
    db,
  );
  const control = async (step: Step | null, does: 'refuse' | 'hold') => {
    await sql`DELETE FROM step_control`.execute(db);
    if (step !== null) await sql`INSERT INTO step_control VALUES (${step}, ${does})`.execute(db);
  };
  return {
    refuse: (step) => control(step, 'refuse'),
    async hold(step, work) {
      await control(step, 'hold');
      await db.transaction().execute(async (tx) => {
        // It may take a while until somebody comes.
        await sql`SET LOCAL idle_in_transaction_session_timeout = 0`.execute(tx);
        await sql`SELECT pg_advisory_xact_lock(${sql.lit(GATE)})`.execute(tx);
        await work();
      });
      await control(null, 'hold');
    },
    async isHeld() {
      const { rows } = await sql<{ held: boolean }>`
        SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = ${sql.lit(GATE)} AND NOT granted
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) AS held`.execute(
        db,
      );
      return rows[0]?.held ?? false;
    },
    async movesOf(jobId) {
      const { rows } = await sql<{ status: JobStatus; step: string | null; progress: number }>`
        SELECT status, step, progress FROM step_moves WHERE job_id = ${jobId as JobId} ORDER BY id`.execute(
        db,
      );
      return rows;
    },
  };
}

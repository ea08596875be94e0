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

/** The same of a run that researches. */
export const RESEARCHED_STEPS = ['VALIDATING', 'RESEARCHING', ...STEPS.slice(1)] as const;

/** Any number that no other test locks. */
export const GATE = 30;

/**
 * Where a job can be held: as it enters a step, as its lead is about to be requested, once the edits are stored, or as its
 * document is stored, between WRITING and the next step.
 */
export type Place = Step | 'RESEARCHING' | 'COMPLETED' | 'leading' | 'assembling';

/** What the database does when a job enters a step: nothing, refuse it for good, or wait at a gate. */
export interface StepControl {
  refuse(step: Step | null): Promise<void>;
  /** Holds whoever enters the step until `work` is done. */
  hold(step: Step | 'RESEARCHING', work: () => Promise<void>): Promise<void>;
  /** Holds each of some jobs at a `Place`, or one of `research-places.ts`, of its own until `work` is done. */
  holdEach(places: ReadonlyMap<string, string>, work: () => Promise<void>): Promise<void>;
  /** How many wait at the gate. */
  held(): Promise<number>;
  /** Breaks the connections of those who wait, so that nothing of their transactions is left. */
  dropHeld(): Promise<void>;
  /** Every status that a job had, with its step and progress on entering it. */
  movesOf(jobId: string): Promise<{ status: JobStatus; step: string | null; progress: number }[]>;
}

/** Watches how jobs move, by triggers, so that no step is missed or met too late. */
export async function controlSteps(db: Database): Promise<StepControl> {
  await sql`CREATE TABLE step_control (status text, does text, job_id uuid)`.execute(db);
  await sql`CREATE TABLE step_moves (
    id bigint GENERATED ALWAYS AS IDENTITY, job_id uuid, status text, step text, progress integer)`.execute(
    db,
  );
  await sql`
    CREATE FUNCTION control_step() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE act text;
    BEGIN
      IF NEW.status IS NOT DISTINCT FROM OLD.status THEN RETURN NEW; END IF;
      SELECT does INTO act FROM step_control WHERE status = NEW.status AND coalesce(job_id, NEW.id) = NEW.id;
      IF act = 'refuse' THEN RAISE check_violation USING MESSAGE = 'refused by the test'; END IF;
      IF act = 'hold' THEN PERFORM pg_advisory_xact_lock(${sql.lit(GATE)}); END IF;
      INSERT INTO step_moves (job_id, status, step, progress)
      VALUES (NEW.id, NEW.status, NEW.current_step, NEW.progress);
      RETURN NEW;
    END $$`.execute(db);
  await sql`CREATE TRIGGER control_step BEFORE UPDATE ON jobs FOR EACH ROW EXECUTE FUNCTION control_step()`.execute(
    db,
  );
  await sql`
    CREATE FUNCTION control_assembly() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF NEW.document IS NOT NULL AND EXISTS (
        SELECT FROM step_control WHERE status = 'assembling' AND job_id = NEW.job_id)
      THEN PERFORM pg_advisory_xact_lock(${sql.lit(GATE)}); END IF;
      RETURN NEW;
    END $$`.execute(db);
  await sql`CREATE TRIGGER control_assembly BEFORE UPDATE ON generations
    FOR EACH ROW EXECUTE FUNCTION control_assembly()`.execute(db);
  await sql`
    CREATE FUNCTION control_lead() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF NEW.asked AND NOT OLD.asked AND NEW.kind = 'lead' AND EXISTS (
        SELECT FROM step_control WHERE status = 'leading' AND job_id = NEW.job_id)
      THEN PERFORM pg_advisory_xact_lock(${sql.lit(GATE)}); END IF;
      RETURN NEW;
    END $$`.execute(db);
  await sql`CREATE TRIGGER control_lead BEFORE UPDATE ON generation_parts
    FOR EACH ROW EXECUTE FUNCTION control_lead()`.execute(db);
  const control = async (...rows: { status: string; does: 'refuse' | 'hold'; job_id?: string }[]) => {
    await sql`DELETE FROM step_control`.execute(db);
    await sql`INSERT INTO step_control SELECT * FROM jsonb_populate_recordset(
      NULL::step_control, ${JSON.stringify(rows)}::jsonb)`.execute(db);
  };
  const behindGate = async (work: () => Promise<void>): Promise<void> => {
    await db.transaction().execute(async (tx) => {
      // It may take a while until somebody comes.
      await sql`SET LOCAL idle_in_transaction_session_timeout = 0`.execute(tx);
      await sql`SELECT pg_advisory_xact_lock(${sql.lit(GATE)})`.execute(tx);
      await work();
    });
    await control();
  };
  const waiting = sql`pg_locks WHERE locktype = 'advisory' AND objid = ${sql.lit(GATE)} AND NOT granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
  return {
    refuse: (step) => (step === null ? control() : control({ status: step, does: 'refuse' })),
    async hold(step, work) {
      await control({ status: step, does: 'hold' });
      await behindGate(work);
    },
    async holdEach(places, work) {
      await control(...[...places].map(([job_id, status]) => ({ status, does: 'hold' as const, job_id })));
      await behindGate(work);
    },
    async held() {
      const { rows } = await sql<{
        count: number;
      }>`SELECT count(*)::integer AS count FROM ${waiting}`.execute(db);
      return rows[0]?.count ?? 0;
    },
    async dropHeld() {
      await sql`SELECT pg_terminate_backend(pid) FROM ${waiting}`.execute(db);
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

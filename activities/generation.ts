import type { Database } from '../src/db/database.ts';
import { editArticle } from '../src/generation/edit.ts';
import { failureOf } from '../src/generation/failures.ts';
import { makeLead } from '../src/generation/lead.ts';
import { enterStep, type GenerationStep } from '../src/generation/progress.ts';
import { assembleGeneration, settleGeneration, settleOutline } from '../src/generation/settle.ts';
import {
  makeFaq,
  makeOutline,
  makeSection,
  makeTextPlan,
  planSections,
  validateGeneration,
} from '../src/generation/write.ts';
import type { WritingDependencies } from '../src/generation/write-part.ts';
import type { JobId } from '../src/ids.ts';
import { createPauses } from '../src/providers/pauses.ts';
import type { FailureCause } from '../src/temporal/shapes.ts';
import { asFinalFailure, providerFailure, whileAway } from './failures.ts';
import {
  callEngine,
  createJobActivities,
  ending,
  type JobDependencies,
  jobEnded,
  requireOpen,
} from './jobs.ts';

export type GenerationActivities = ReturnType<typeof createGenerationActivities>;

/** The activities of `generateArticle`. Each is idempotent: it may run again after a crash. */
export function createGenerationActivities(dependencies: JobDependencies & WritingDependencies) {
  const { db, stopping } = dependencies;
  const engine = { db, pauses: createPauses(), jobs: 'generations', stopping };
  const { fail, cancel } = createJobActivities(dependencies);
  return {
    /** Stores what the article is written from; returns which steps before the text there are. */
    validateGeneration: (
      jobId: JobId,
    ): Promise<{ outlined: boolean; outlineOnly: boolean; research: boolean }> =>
      asFinalFailure(async () => {
        await enter(db, jobId, 'validate');
        return validateGeneration(dependencies, jobId);
      }),

    /** Makes the outline. */
    planOutline: (jobId: JobId): Promise<void> =>
      callEngine(engine, jobId, async (signal) => {
        await enter(db, jobId, 'outline');
        await makeOutline(dependencies, { jobId, signal, persist: whileAway });
      }),

    /** Ends a run that stops after the outline; false when the job had already ended. */
    settleOutline: (jobId: JobId): Promise<boolean> =>
      ending(dependencies, jobId, () => settleOutline(db, jobId)),

    /** Plans the text from its outline. */
    writePlan: (jobId: JobId): Promise<void> =>
      callEngine(engine, jobId, async (signal) => {
        await enter(db, jobId, 'write');
        await makeTextPlan(dependencies, { jobId, signal, persist: whileAway });
      }),

    /** Plans the sections, and the questions at the end; returns how many sections there are, and whether questions. */
    planSections: (jobId: JobId): Promise<{ sections: number; faq: boolean }> =>
      asFinalFailure(async () => {
        await enter(db, jobId, 'write');
        return planSections(db, jobId);
      }),

    /** Writes one section, counted from 1. */
    writeSection: (jobId: JobId, section: number): Promise<void> =>
      callEngine(engine, jobId, (signal) =>
        makeSection(dependencies, { jobId, section, signal, persist: whileAway }),
      ),

    /** Writes the questions at the end. */
    writeFaq: (jobId: JobId): Promise<void> =>
      callEngine(engine, jobId, (signal) => makeFaq(dependencies, { jobId, signal, persist: whileAway })),

    /** Has an editor read the whole; the article does without edits that fail. */
    editArticle: (jobId: JobId): Promise<void> =>
      callEngine(engine, jobId, (signal) => editArticle(dependencies, { jobId, signal, persist: whileAway })),

    /** Writes the lead and the names; the article does without what fails. */
    writeLead: (jobId: JobId): Promise<void> =>
      callEngine(engine, jobId, (signal) => makeLead(dependencies, { jobId, signal, persist: whileAway })),

    /** Assembles the sections into a valid document. */
    assembleArticle: async (jobId: JobId): Promise<void> => {
      try {
        await requireOpen(db, jobId);
        await assembleGeneration(db, jobId);
      } catch (error) {
        throw providerFailure(error, []);
      }
    },

    /** Enters a step that is empty in this release. */
    passStep: (jobId: JobId, step: GenerationStep): Promise<void> =>
      asFinalFailure(() => enter(db, jobId, step)),

    /** Writes the article and the charge; false when the job had already ended. */
    settleGeneration: (jobId: JobId): Promise<boolean> =>
      ending(dependencies, jobId, () => settleGeneration(db, jobId)),

    /** Ends the job as FAILED; false when it had already ended. */
    failGeneration: async (jobId: JobId, errorMessage: string, cause: FailureCause): Promise<boolean> =>
      fail(jobId, (await asFinalFailure(() => failureOf(db, jobId))) ?? errorMessage, cause),

    /** Ends the job as CANCELLED; false when it had already ended. */
    cancelGeneration: cancel,
  };
}

/** Moves the job into a step, or stops the run of one that has ended. */
async function enter(db: Database, jobId: JobId, step: GenerationStep): Promise<void> {
  if (!(await whileAway(() => enterStep(db, jobId, step)))) throw jobEnded();
}

import type { Database } from '../src/db/database.ts';
import type { Verdict } from '../src/db/tables.ts';
import { correctArticle, editArticle } from '../src/generation/edit.ts';
import { failureOf } from '../src/generation/failures.ts';
import { type DrawingDependencies, drawImage } from '../src/generation/images/draw.ts';
import { type ImageOutcome, imageOutcomes, imagesToDraw } from '../src/generation/images/images.ts';
import {
  assignPrompts,
  freezeImages,
  makeImagePrompts,
  planImagePrompts,
} from '../src/generation/images/plan.ts';
import { type ProcessingDependencies, processImage } from '../src/generation/images/process.ts';
import { makeLead } from '../src/generation/lead.ts';
import { readParts } from '../src/generation/parts.ts';
import { enterStep, type GenerationStep, showDrawn } from '../src/generation/progress.ts';
import { chooseClaims, compareClaims, findEvidence, verdictsOf } from '../src/generation/research/facts.ts';
import type { ResearchDependencies } from '../src/generation/research/gather.ts';
import { findSources, makeQuestions, takeNotes } from '../src/generation/research/research.ts';
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
import { inTheBackground } from '../src/threads/share.ts';
import { asFinalFailure, beat, providerFailure, whileAway } from './failures.ts';
import { whileBeating } from './heartbeat.ts';
import {
  callEngine,
  createJobActivities,
  ending,
  HEARTBEAT_MS,
  type JobDependencies,
  jobEnded,
  requireOpen,
} from './jobs.ts';

export type GenerationActivities = ReturnType<typeof createGenerationActivities>;

/** The activities of `generateArticle`. Each is idempotent: it may run again after a crash. */
export function createGenerationActivities(
  dependencies: JobDependencies &
    WritingDependencies &
    DrawingDependencies &
    ProcessingDependencies &
    ResearchDependencies & {
      /** Called for each image of a settled run. */
      readonly onImage?: (outcome: ImageOutcome) => void;
      /** Called for each claim of a settled run. */
      readonly onClaim?: (verdict: Verdict) => void;
    },
) {
  const { db, stopping } = dependencies;
  const engine = { db, pauses: createPauses(), jobs: 'generations', stopping };
  const imageEngine = { ...engine, pauses: createPauses(), jobs: 'images' };
  const searchEngine = { ...engine, pauses: createPauses(), jobs: 'searches' };
  const { fail, cancel } = createJobActivities(dependencies);
  return {
    /** Stores what the article is written from; returns which steps before the text there are. */
    validateGeneration: (
      jobId: JobId,
    ): Promise<{ outlined: boolean; outlineOnly: boolean; research: boolean }> =>
      asFinalFailure(async () => {
        await enter(db, jobId, 'validate');
        const validated = await validateGeneration(dependencies, jobId);
        await freezeImages(db, jobId, dependencies.imageModel !== null);
        return validated;
      }),

    /** Asks what to search for. */
    askQuestions: (jobId: JobId): Promise<void> =>
      callEngine(engine, jobId, async (signal) => {
        await enter(db, jobId, 'research');
        await makeQuestions(dependencies, { jobId, signal, persist: whileAway });
      }),

    /** Searches and reads; the article does without what fails. */
    findSources: (jobId: JobId): Promise<void> =>
      callEngine(searchEngine, jobId, async (signal) => {
        await enter(db, jobId, 'research');
        await findSources(dependencies, { jobId, signal, persist: whileAway });
      }),

    /** Chooses the notes that the article is written from. */
    takeNotes: (jobId: JobId): Promise<void> =>
      callEngine(engine, jobId, (signal) => takeNotes(dependencies, { jobId, signal, persist: whileAway })),

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

    /** Plans the sections, the questions at the end, and fact checking; returns how many sections there are, and which of the rest. */
    planSections: (jobId: JobId): Promise<{ sections: number; faq: boolean; facts: boolean }> =>
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

    /** Chooses the sentences that can be checked. */
    chooseClaims: (jobId: JobId): Promise<void> =>
      callEngine(engine, jobId, (signal) =>
        chooseClaims(dependencies, { jobId, signal, persist: whileAway }),
      ),

    /** Searches for what they say, and reads. */
    findEvidence: (jobId: JobId): Promise<void> =>
      callEngine(searchEngine, jobId, (signal) =>
        findEvidence(dependencies, { jobId, signal, persist: whileAway }),
      ),

    /** Compares them with passages of sources. */
    compareClaims: (jobId: JobId): Promise<void> =>
      callEngine(engine, jobId, (signal) =>
        compareClaims(dependencies, { jobId, signal, persist: whileAway }),
      ),

    /** Has an editor correct what sources contradict. */
    correctArticle: (jobId: JobId): Promise<void> =>
      callEngine(engine, jobId, (signal) =>
        correctArticle(dependencies, { jobId, signal, persist: whileAway }),
      ),

    /** Writes the lead and the names; the article does without what fails. */
    writeLead: (jobId: JobId): Promise<void> =>
      callEngine(engine, jobId, (signal) => makeLead(dependencies, { jobId, signal, persist: whileAway })),

    /** Decides which images are made; returns how many need prompts. */
    planImagePrompts: (jobId: JobId): Promise<number> =>
      asFinalFailure(async () => {
        await enter(db, jobId, 'image-prompts');
        return planImagePrompts(db, jobId);
      }),

    /** Writes the prompts of all images; the article does without images if that fails. */
    writeImagePrompts: (jobId: JobId): Promise<void> =>
      callEngine(engine, jobId, (signal) =>
        makeImagePrompts(dependencies, { jobId, signal, persist: whileAway }),
      ),

    /** Assembles the sections into a valid document, with places for its images; returns the numbers of those to draw. */
    assembleArticle: async (jobId: JobId): Promise<number[]> => {
      try {
        await requireOpen(db, jobId);
        await assignPrompts(db, jobId);
        await assembleGeneration(db, jobId);
        return await imagesToDraw(db, jobId);
      } catch (error) {
        throw providerFailure(error, []);
      }
    },

    /** Has one image drawn; the article does without one that fails. */
    drawImage: (jobId: JobId, number: number): Promise<void> =>
      callEngine(imageEngine, jobId, async (signal) => {
        await drawImage(dependencies, { jobId, number, signal, persist: whileAway });
        await showDrawn(db, jobId);
      }),

    /** Makes what was drawn the files of an asset; the article does without one that fails. */
    processImage: (jobId: JobId, number: number): Promise<void> =>
      whileBeating(HEARTBEAT_MS, beat, async () => {
        try {
          const workspace = await requireOpen(db, jobId);
          const task = { jobId, number, persist: whileAway };
          await inTheBackground(workspace, () => processImage(dependencies, task));
        } catch (error) {
          throw providerFailure(error, ['retryable']);
        }
      }),

    /** Enters a step whose work is done by others, or that has none. */
    passStep: (jobId: JobId, step: GenerationStep): Promise<void> =>
      asFinalFailure(() => enter(db, jobId, step)),

    /** Writes the article and the charge; false when the job had already ended. */
    settleGeneration: (jobId: JobId): Promise<boolean> =>
      ending(dependencies, jobId, async () => {
        const settled = await settleGeneration(db, jobId);
        if (settled) {
          for (const outcome of await imageOutcomes(db, jobId)) dependencies.onImage?.(outcome);
          for (const { verdict } of verdictsOf(await readParts(db, jobId)).claims) {
            dependencies.onClaim?.(verdict);
          }
        }
        return settled;
      }),

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

import { drawAnew, PROGRESS, processAnew } from '../src/assets/regenerate/draw.ts';
import { settleRegeneration } from '../src/assets/regenerate/settle.ts';
import type { DrawingDependencies } from '../src/generation/images/draw.ts';
import type { ProcessingDependencies } from '../src/generation/images/process.ts';
import { enterStep } from '../src/generation/progress.ts';
import type { JobId } from '../src/ids.ts';
import { createPauses } from '../src/providers/pauses.ts';
import type { Replacement } from '../src/temporal/shapes.ts';
import { beat, onLeftOver, providerFailure, whileAway } from './failures.ts';
import { whileBeating } from './heartbeat.ts';
import {
  callEngine,
  createJobActivities,
  ending,
  HEARTBEAT_MS,
  type JobDependencies,
  jobEnded,
} from './jobs.ts';

export type RegenerationActivities = ReturnType<typeof createRegenerationActivities>;

/** The activities of `regenerateImage`. Each is idempotent: it may run again after a crash. */
export function createRegenerationActivities(
  dependencies: JobDependencies & DrawingDependencies & ProcessingDependencies,
) {
  const { db, areas, stopping } = dependencies;
  const model = { db, pauses: createPauses(), jobs: 'regenerations of images', stopping };
  const { fail, cancel } = createJobActivities(dependencies);
  const enter = async (jobId: JobId, step: 'images' | 'media-processing'): Promise<void> => {
    if (!(await whileAway(() => enterStep(db, jobId, step, PROGRESS[step])))) throw jobEnded();
  };
  return {
    /** Has a model draw the image, unless it is drawn. */
    drawAnew: (jobId: JobId): Promise<void> =>
      callEngine(model, jobId, async (signal) => {
        await enter(jobId, 'images');
        await drawAnew(dependencies, { jobId, signal, persist: whileAway });
      }),

    /** Decodes what was drawn and stores it, unless it is stored. */
    processAnew: (jobId: JobId): Promise<void> =>
      whileBeating(HEARTBEAT_MS, beat, async () => {
        try {
          await enter(jobId, 'media-processing');
          await processAnew(dependencies, { jobId, persist: whileAway });
        } catch (error) {
          throw providerFailure(error, []);
        }
      }),

    /** Puts the image in the place of the other one and charges, or ends the job when a person has changed that one. */
    settleAnew: (jobId: JobId): Promise<Replacement> =>
      ending(dependencies, jobId, () => settleRegeneration({ db, areas, onLeftOver }, jobId)),

    /** Ends the job as FAILED; false when it had already ended. */
    failAnew: fail,

    /** Ends the job as CANCELLED; false when it had already ended. */
    cancelAnew: cancel,
  };
}

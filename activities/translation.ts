import type { JobId } from '../src/ids.ts';
import { createPauses } from '../src/providers/pauses.ts';
import type { TranslationProvider } from '../src/providers/types.ts';
import type { PlannedRun } from '../src/temporal/shapes.ts';
import { translateBatch } from '../src/translations/batch.ts';
import { remember } from '../src/translations/memory/remember.ts';
import { type PlanTask, planSegments } from '../src/translations/plan.ts';
import { settleRefresh } from '../src/translations/refresh/settle.ts';
import { settleTranslation } from '../src/translations/settle.ts';
import { drawStyleSheet, wantsSheet } from '../src/translations/style-sheet/draw.ts';
import { asFinalFailure } from './failures.ts';
import { callEngine, createJobActivities, ending, type JobDependencies, requireOpen } from './jobs.ts';

export type TranslationActivities = ReturnType<typeof createTranslationActivities>;

/**
 * The activities of `translateArticle` and `refreshTranslation`. Each is idempotent: it may run again after a crash.
 */
export function createTranslationActivities(
  dependencies: JobDependencies & { readonly provider: TranslationProvider },
) {
  const { db, provider, stopping } = dependencies;
  const engine = { db, pauses: createPauses(), jobs: 'translations', stopping };
  const plan = (jobId: JobId, task: PlanTask): Promise<PlannedRun> =>
    asFinalFailure(async () => {
      await requireOpen(db, jobId);
      const planned = await planSegments(db, jobId, provider, task);
      const { batches, bodyBatches } = planned;
      return {
        batches,
        ...(wantsSheet(provider, planned) ? { drawSheet: true } : {}),
        ...(bodyBatches < batches ? { fieldsFirst: true } : {}),
      };
    });
  /** Also when a lost worker had already settled the job. */
  const remembering = async (settling: Promise<boolean>, jobId: JobId): Promise<boolean> => {
    const settled = await settling;
    await remember(db, jobId);
    return settled;
  };
  return {
    ...createJobActivities(dependencies),

    /** Stores the segments as rows; returns how many batches they make. */
    planSegments: (jobId: JobId): Promise<PlannedRun> => plan(jobId, 'plan'),

    /** The same for a refresh. */
    planRefresh: (jobId: JobId): Promise<PlannedRun> => plan(jobId, 'planSegmentsOf'),

    /** Draws the style sheet of the job's version; returns how many terms it has. */
    drawStyleSheet: (jobId: JobId): Promise<{ terms: number }> =>
      callEngine(engine, jobId, async (signal) => ({
        terms: await drawStyleSheet({ db, provider }, { jobId, signal }),
      })),

    /** Translates one batch; returns how many segments it sent to the provider. */
    translateBatch: (jobId: JobId, batch: number): Promise<{ segments: number }> =>
      callEngine(engine, jobId, async (signal) => ({
        segments: await translateBatch({ db, provider }, { jobId, batch, signal }),
      })),

    /** Writes the article and the charge; false when the job had already ended. */
    settle: (jobId: JobId): Promise<boolean> =>
      ending(dependencies, jobId, () => remembering(settleTranslation(db, jobId), jobId)),

    /** Applies or proposes a refresh, and charges for it; false when the job had already ended. */
    settleRefresh: (jobId: JobId): Promise<boolean> =>
      ending(dependencies, jobId, () => remembering(settleRefresh(db, jobId), jobId)),
  };
}

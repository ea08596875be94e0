import type { JobId } from '../src/ids.ts';
import { createPauses } from '../src/providers/pauses.ts';
import type { TranslationProvider } from '../src/providers/types.ts';
import type { PlannedRun } from '../src/temporal/shapes.ts';
import { translateBatch } from '../src/translations/batch.ts';
import { remember } from '../src/translations/memory/remember.ts';
import { planSegments } from '../src/translations/plan.ts';
import { settleTranslation } from '../src/translations/settle.ts';
import { drawStyleSheet, wantsSheet } from '../src/translations/style-sheet/draw.ts';
import { asFinalFailure } from './failures.ts';
import {
  callEngine,
  createJobActivities,
  ending,
  type JobDependencies,
  jobEnded,
  requireOpen,
} from './jobs.ts';

export type TranslationActivities = ReturnType<typeof createTranslationActivities>;

/**
 * The activities of `translateArticle` and `refreshTranslation`. Each is idempotent: it may run again after a crash.
 */
export function createTranslationActivities(
  dependencies: JobDependencies & { readonly provider: TranslationProvider },
) {
  const { db, provider, stopping } = dependencies;
  const engine = { db, pauses: createPauses(), jobs: 'translations', stopping };
  /** Also when a lost worker had already settled the job. */
  const remembering = async (settling: Promise<boolean>, jobId: JobId): Promise<boolean> => {
    const settled = await settling;
    await remember(db, jobId);
    return settled;
  };
  return {
    ...createJobActivities(dependencies),

    /** Stores the segments as rows; returns how many batches they make. */
    planSegments: (jobId: JobId): Promise<PlannedRun> =>
      asFinalFailure(async () => {
        await requireOpen(db, jobId);
        const planned = await planSegments(db, jobId, provider);
        if (planned === null) throw jobEnded();
        const { batches, bodyBatches } = planned;
        return {
          batches,
          ...(wantsSheet(provider, planned) ? { drawSheet: true } : {}),
          ...(bodyBatches < batches ? { fieldsFirst: true } : {}),
        };
      }),

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

    /** Writes the article, or applies or proposes a refresh, and the charge; false when the job had already ended. */
    settle: (jobId: JobId): Promise<boolean> =>
      ending(dependencies, jobId, () => remembering(settleTranslation(db, jobId), jobId)),
  };
}

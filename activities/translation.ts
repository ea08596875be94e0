import { cancellationSignal, log } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { Database } from '../src/db/database.ts';
import { inTransaction } from '../src/db/transaction.ts';
import type { JobId } from '../src/ids.ts';
import { type Ending, endJob } from '../src/jobs/end.ts';
import { isJobOpen, takeOver } from '../src/jobs/run-state.ts';
import { passTurn, takeTurn } from '../src/jobs/turns.ts';
import { ProviderError, type TranslationProvider } from '../src/providers/types.ts';
import type { Turn } from '../src/temporal/shapes.ts';
import type { TemporalClient } from '../src/temporal/workflow-client.ts';
import { translateBatch } from '../src/translations/batch.ts';
import { type Planned, planSegments } from '../src/translations/plan.ts';
import { settleRefresh } from '../src/translations/refresh/settle.ts';
import { settleTranslation } from '../src/translations/settle.ts';
import { asFinalFailure, beat, onLeftOver, providerFailure, whileAway } from './failures.ts';
import { whileBeating } from './heartbeat.ts';

const HEARTBEAT_MS = 5_000;
const FIRST = { status: 'TRANSLATING', step: 'translate' } as const;

export type TranslationActivities = ReturnType<typeof createTranslationActivities>;

/** The steps of `translateArticle` and `refreshTranslation`. Each may run again after a crash and then finds its work done. */
export function createTranslationActivities(dependencies: {
  db: Database;
  provider: TranslationProvider;
  client: TemporalClient;
}) {
  const { db, provider } = dependencies;
  /** Ends a job, and lets the next of its workspace begin, also when an attempt before or a request had ended it. */
  const ending = async (jobId: JobId, end: () => Promise<boolean>): Promise<boolean> => {
    const ended = await asFinalFailure(end);
    await passTurn(dependencies, jobId).catch((error: unknown) =>
      log.warn('the next job was not told of its turn', { jobId, error }),
    );
    return ended;
  };
  const endWithoutResult = (jobId: JobId, end: Ending): Promise<boolean> =>
    ending(jobId, async () => {
      const ended = await inTransaction(db, (tx) => endJob(tx, jobId, { ...end, onLeftOver }));
      return ended !== null;
    });
  const plan = (jobId: JobId, task: Planned): Promise<{ batches: number }> =>
    asFinalFailure(async () => {
      await requireOpen(db, jobId);
      return { batches: await planSegments(db, jobId, provider.name, task) };
    });
  return {
    /** Takes the hold over when it is the job's turn among those of its workspace. */
    takeTurn: (jobId: JobId): Promise<Turn> => asFinalFailure(() => takeTurn(db, jobId, FIRST)),

    /** Takes the hold over; false when the job has ended. Runs of release 0.2 and before ask this. */
    reserve: (jobId: JobId): Promise<boolean> => asFinalFailure(() => takeOver(db, jobId, FIRST)),

    /** Writes the segments as rows and answers how many batches they make; none when the job has ended. */
    planSegments: (jobId: JobId): Promise<{ batches: number }> => plan(jobId, 'plan'),

    /** The same for what a refresh makes. */
    planRefresh: (jobId: JobId): Promise<{ batches: number }> => plan(jobId, 'planSegmentsOf'),

    /** Translates one batch and answers how many segments it asked the provider for. */
    translateBatch: (jobId: JobId, batch: number): Promise<{ segments: number }> =>
      whileBeating(HEARTBEAT_MS, beat, async () => {
        beat();
        try {
          await requireOpen(db, jobId);
          const signal = cancellationSignal();
          return { segments: await translateBatch({ db, provider }, { jobId, batch, signal }) };
        } catch (error) {
          if (error instanceof ProviderError && error.kind === 'misconfigured') {
            log.error('the translation engine rejects our settings: translations are waiting', {
              error: error.message,
            });
          }
          throw providerFailure(error, ['retryable', 'misconfigured']);
        }
      }),

    /** Writes the article and the charge; false when the job had ended before. */
    settle: (jobId: JobId): Promise<boolean> => ending(jobId, () => settleTranslation(db, jobId)),

    /** Applies or proposes what a refresh has made, and charges for it; false when the job had ended before. */
    settleRefresh: (jobId: JobId): Promise<boolean> => ending(jobId, () => settleRefresh(db, jobId)),

    /** Ends the job as FAILED; false when it had ended before. */
    fail: (jobId: JobId, errorMessage: string): Promise<boolean> =>
      endWithoutResult(jobId, { status: 'FAILED', errorMessage }),

    /** Ends the job as CANCELLED; false when it had ended before. */
    cancel: (jobId: JobId): Promise<boolean> => endWithoutResult(jobId, { status: 'CANCELLED' }),
  };
}

/** Stops the run of a job that has been cancelled or has ended. */
async function requireOpen(db: Database, jobId: JobId): Promise<void> {
  if (!(await whileAway(() => isJobOpen(db, jobId)))) {
    throw ApplicationFailure.create({
      type: 'JobEnded',
      message: 'The job has already ended.',
      nonRetryable: true,
      category: 'BENIGN',
    });
  }
}

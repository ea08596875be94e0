import { articleExample } from '../../articles/examples.ts';
import { completedJobExample, queuedJobExample } from '../../jobs/examples.ts';
import type { Job } from '../../jobs/schemas.ts';
import type { ImageReport, RegenerationEstimate } from './schemas.ts';

export const promptExample = 'A vegetable bed in spring, seen from above, with young lettuce in rows.';

export const estimateExample: RegenerationEstimate = { quality: 'hd', total: 3 };

const job: Job = {
  ...queuedJobExample,
  articleId: articleExample.id,
  kind: 'generation',
  idempotencyKey: 'bed-plan-1',
  estimatedCredits: 3,
  reservedCredits: 3,
};

/** Responses of a regeneration for the reference page. */
export const regeneratedExample = { article: articleExample, job, estimate: estimateExample, reused: false };

export const replayedExample = {
  article: articleExample,
  job: { ...job, ...finished() },
  estimate: null,
  reused: true,
};

function finished(): Partial<Job> {
  const { status, currentStep, progress } = completedJobExample;
  return { status, currentStep, progress, consumedCredits: 3 };
}

export const imageReportExample: ImageReport = {
  jobId: job.id,
  articleId: job.articleId,
  assetId: 'c4e8a1d7-5b32-4f09-9e6a-7d1f3b8c2e50',
  status: 'COMPLETED',
  credits: { estimated: 3, reserved: 3, consumed: 3 },
  quality: 'hd',
  style: 'editorial',
  prompt: promptExample,
  reason: null,
  calls: [
    {
      model: 'gpt-image-2',
      outcome: 'answered',
      startedAt: '2026-11-22T08:12:00.000Z',
      milliseconds: 21_400,
    },
  ],
};

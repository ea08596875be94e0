import { Counter, type Registry } from 'prom-client';
import type { Verdict } from '../db/tables.ts';
import type { EndedCall } from '../generation/calls.ts';
import type { EndedImageCall } from '../generation/images/draw.ts';
import type { ImageOutcome } from '../generation/images/images.ts';
import type { JobId } from '../ids.ts';
import type { FailureCause } from '../temporal/shapes.ts';
import { countAttempts, countEndings } from './paid-jobs.ts';

/** The steps of a run whose outcomes are counted. */
interface CountedSteps {
  readonly planOutline: (jobId: JobId) => Promise<void>;
  readonly writePlan: (jobId: JobId) => Promise<void>;
  readonly writeSection: (jobId: JobId, section: number) => Promise<void>;
  readonly writeFaq: (jobId: JobId) => Promise<void>;
  readonly writeImagePrompts: (jobId: JobId) => Promise<void>;
  readonly settleOutline: (jobId: JobId) => Promise<boolean>;
  readonly settleGeneration: (jobId: JobId) => Promise<boolean>;
  readonly failGeneration: (jobId: JobId, errorMessage: string, cause: FailureCause) => Promise<boolean>;
  readonly cancelGeneration: (jobId: JobId) => Promise<boolean>;
}

/** Returns the activities with their outcomes counted. */
export type CountGenerations = <Activities extends CountedSteps>(activities: Activities) => Activities;

export interface GenerationMetrics {
  readonly countGenerations: CountGenerations;
  /** Counts a call that has ended, and its tokens. */
  readonly countCall: (call: EndedCall) => void;
  /** Counts a call for an image that has ended. */
  readonly countImageCall: (call: EndedImageCall) => void;
  /** Counts an image that was delivered, or why one was not. */
  readonly countImage: (outcome: ImageOutcome) => void;
  readonly countSearch: (outcome: 'answered' | 'failed') => void;
  /** Counts a page that was read, or why it is not used. */
  readonly countPage: (outcome: string) => void;
  /** Counts a claim of a settled run. */
  readonly countClaim: (verdict: Verdict) => void;
}

/** Counts written outlines and sections, the calls for them, and the jobs that runs end in this process. */
export function createGenerationMetrics(registry: Registry): GenerationMetrics {
  const calls = new Counter({
    name: 'generation_calls_total',
    help: 'Calls of the models that write articles, by model and outcome.',
    labelNames: ['model', 'outcome'] as const,
    registers: [registry],
  });
  const tokens = new Counter({
    name: 'generation_tokens_total',
    help: 'Tokens of answered calls as the models counted them, by model and kind.',
    labelNames: ['model', 'kind'] as const,
    registers: [registry],
  });
  const countPart = countAttempts(registry, {
    made: 'written',
    tries: {
      name: 'generation_parts_total',
      help: 'Attempts to write an outline, a plan, a section or the questions, by outcome.',
    },
    refusals: {
      name: 'generation_engine_refusals_total',
      help: 'Parts that the model refused because of our settings: key, address, model or quota.',
    },
  });
  const imageCalls = new Counter({
    name: 'generation_image_calls_total',
    help: 'Calls of the models that draw images, by model and outcome.',
    labelNames: ['model', 'outcome'] as const,
    registers: [registry],
  });
  const images = new Counter({
    name: 'generation_images_total',
    help: 'Images of settled generations: delivered, or why they were not.',
    labelNames: ['outcome'] as const,
    registers: [registry],
  });
  const searches = new Counter({
    name: 'generation_searches_total',
    help: 'Searches for research and facts, by outcome: answered or failed.',
    labelNames: ['outcome'] as const,
    registers: [registry],
  });
  const pages = new Counter({
    name: 'generation_pages_total',
    help: 'Pages requested for research and facts: read, or why one is not used.',
    labelNames: ['outcome'] as const,
    registers: [registry],
  });
  const facts = new Counter({
    name: 'generation_claims_total',
    help: 'Claims of settled generations by verdict.',
    labelNames: ['verdict'] as const,
    registers: [registry],
  });
  const counting = countEndings(registry, {
    name: 'generation_jobs_ended_total',
    help: 'Generations and outlines ended by their run, by outcome.',
  });
  return {
    countCall({ model, outcome, usage }) {
      calls.inc({ model, outcome });
      for (const [kind, count] of Object.entries(usage ?? {})) tokens.inc({ model, kind }, count ?? 0);
    },
    countImageCall: ({ model, outcome }) => imageCalls.inc({ model, outcome }),
    countImage: (outcome) => images.inc({ outcome }),
    countSearch: (outcome) => searches.inc({ outcome }),
    countPage: (outcome) => pages.inc({ outcome }),
    countClaim: (verdict) => facts.inc({ verdict }),
    countGenerations: (activities) => ({
      ...activities,
      planOutline: (jobId) => countPart(activities.planOutline(jobId)),
      writePlan: (jobId) => countPart(activities.writePlan(jobId)),
      writeSection: (jobId, section) => countPart(activities.writeSection(jobId, section)),
      writeFaq: (jobId) => countPart(activities.writeFaq(jobId)),
      writeImagePrompts: (jobId) => countPart(activities.writeImagePrompts(jobId)),
      settleOutline: (jobId) => counting('completed', activities.settleOutline(jobId)),
      settleGeneration: (jobId) => counting('completed', activities.settleGeneration(jobId)),
      failGeneration: (jobId, message, cause) =>
        counting('failed', activities.failGeneration(jobId, message, cause)),
      cancelGeneration: (jobId) => counting('cancelled', activities.cancelGeneration(jobId)),
    }),
  };
}

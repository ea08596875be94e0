import { articleExample } from '../articles/examples.ts';
import type { Article } from '../articles/schemas.ts';
import { queuedJobExample } from '../jobs/examples.ts';
import type { Job } from '../jobs/schemas.ts';
import type { GenerationConfig } from './config.ts';
import type { Outline } from './outline.ts';
import { firstRun, priceOf } from './price.ts';

/** Requests and responses of generations for the reference page. */

const NO_FEATURES = { webResearch: false, factChecking: false };

const config: GenerationConfig = {
  topic: 'What to do in a garden in spring',
  audience: 'People with their first garden',
  secondaryKeywords: ['spring garden'],
  language: 'en',
  wordCount: 600,
  imageStyle: 'editorial',
  imageCount: 1,
  writingQuality: 'standard',
  imageQuality: 'standard',
  researchEnabled: false,
  reviewOutline: true,
  faq: false,
};

/** As a client sends it: the rest are defaults. */
export const configExample = {
  topic: config.topic,
  audience: config.audience,
  secondaryKeywords: config.secondaryKeywords,
  wordCount: config.wordCount,
  imageCount: config.imageCount,
  writingQuality: config.writingQuality,
  reviewOutline: true,
};

export const outlineExample: Outline = {
  title: 'A garden in spring',
  slug: 'a-garden-in-spring',
  metaTitle: 'A garden in spring',
  metaDescription: 'What to sow, to cut and to water in the first weeks of the year.',
  sections: [
    {
      id: 'soil',
      heading: 'Look at the soil first',
      level: 2,
      purpose: 'How to tell whether it is warm and dry enough.',
      keywords: ['garden soil'],
      estimatedWords: 280,
    },
    {
      id: 'sowing',
      heading: 'What to sow, and when',
      level: 2,
      purpose: 'What bears a late frost, and what does not.',
      keywords: [],
      estimatedWords: 320,
    },
  ],
};

const wallet = { balance: 1000, reserved: 0, available: 1000 };

export const estimateExample = {
  estimate: priceOf(config, NO_FEATURES, firstRun(config)),
  whole: priceOf(config, NO_FEATURES, 'whole'),
  wallet,
  sufficient: true,
};

const { id: articleId } = articleExample;
const queued: Article = {
  ...articleExample,
  title: config.topic,
  slug: 'what-to-do-in-a-garden-in-spring',
  status: 'QUEUED',
  documentJson: { version: 1, blocks: [] },
  contentHtml: null,
  contentMarkdown: null,
  metaTitle: null,
  targetKeywords: [],
  generationConfig: config,
  wordCount: 0,
};

const jobOf = (job: Partial<Job>): Job => ({
  ...queuedJobExample,
  kind: 'generation',
  articleId,
  ...job,
});

const outlining = jobOf({
  idempotencyKey: 'spring-guide-1',
  estimatedCredits: 0,
  reservedCredits: 0,
});

export const generatedExample = {
  article: queued,
  job: outlining,
  estimate: estimateExample.estimate,
  reused: false,
};

export const replayedExample = {
  article: { ...queued, status: 'DRAFT', outline: outlineExample },
  job: { ...outlining, status: 'COMPLETED', currentStep: 'outline', progress: 100 },
  estimate: null,
  reused: true,
};

const approved = priceOf(config, NO_FEATURES, 'approved');

export const approvedExample = {
  article: { ...queued, outline: outlineExample },
  job: jobOf({
    idempotencyKey: 'spring-guide-2',
    estimatedCredits: approved.total,
    reservedCredits: approved.total,
  }),
  estimate: approved,
  reused: false,
};

export const replayedApprovalExample = {
  article: {
    ...articleExample,
    status: 'NEEDS_REVIEW',
    generationConfig: config,
    outline: outlineExample,
  },
  job: {
    ...approvedExample.job,
    status: 'COMPLETED',
    currentStep: 'finalize',
    progress: 100,
    consumedCredits: approved.text,
  },
  estimate: null,
  reused: true,
};

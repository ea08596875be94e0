import { completedJobExample, queuedJobExample } from '../../jobs/examples.ts';
import type { ProposalResponse, RefreshEstimate, TranslationState } from './schemas.ts';

export const estimateExample: RefreshEstimate = {
  blocks: 48,
  changedBlocks: 3,
  changedFields: 1,
  changedImages: 0,
  words: 126,
  total: 1,
};

/** Responses of a refresh for the reference page. */
export const refreshedExample = { job: queuedJobExample, estimate: estimateExample, reused: false };

export const replayedExample = { job: completedJobExample, estimate: null, reused: true };

export const proposalExample: ProposalResponse = {
  id: '5d1f7a92-83c4-4b6e-9f20-7e3a5c1b8d46',
  articleId: queuedJobExample.articleId,
  jobId: queuedJobExample.id,
  unit: 'block:b2',
  action: 'replace',
  reason: 'edited',
  oldSource: { type: 'block', block: { id: 'b2', type: 'paragraph', text: 'Water young plants.' } },
  newSource: {
    type: 'block',
    block: { id: 'b2', type: 'paragraph', text: 'Water young plants in the morning.' },
  },
  current: { type: 'block', block: { id: 'b2', type: 'paragraph', text: 'Riega tus plantas jóvenes.' } },
  value: {
    type: 'block',
    block: { id: 'b2', type: 'paragraph', text: 'Riega las plantas jóvenes por la mañana.' },
  },
  createdAt: '2026-11-22T08:12:00.000Z',
};

export const stateExample: TranslationState = {
  sourceArticleId: 'a3d5c7e9-1b2f-4d6a-8c0e-5f7b9d1a3c24',
  tracking: 'managed',
  units: [
    {
      unit: 'title',
      blockId: null,
      assetId: null,
      path: '/title',
      state: 'current',
      writtenBy: { kind: 'job', jobId: queuedJobExample.id, at: '2026-11-20T09:30:00.000Z' },
      proposalId: null,
    },
    {
      unit: 'block:b2',
      blockId: 'b2',
      assetId: null,
      path: '/documentJson/blocks/1',
      state: 'editedAndStale',
      writtenBy: { kind: 'person', jobId: null, at: null },
      proposalId: proposalExample.id,
    },
  ],
  nextCursor: null,
};

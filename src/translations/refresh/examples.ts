import { completedJobExample, queuedJobExample } from '../../jobs/examples.ts';
import type { ProposalResponse, RefreshEstimate } from './schemas.ts';

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
  value: {
    type: 'block',
    block: { id: 'b2', type: 'paragraph', text: 'Riega las plantas jóvenes por la mañana.' },
  },
  createdAt: '2026-11-22T08:12:00.000Z',
};

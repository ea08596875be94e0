import type { EventPayloads } from './catalog.ts';

const articleId = '5b0f2f8e-7c35-4a53-9d0f-6f1f8e5c2a10';
const jobId = 'a4d1c6b2-83f5-4e07-9b1a-5c7d2e9f0b36';

const articleSet = {
  articleId,
  workspaceId: '9a1f1c0e-3f77-4a5e-8f3e-2c8d4f3b7a01',
  projectId: 'f3a3c1f4-51f5-4d5b-b0b9-0a7f6a3c9d22',
  slug: 'a-garden-in-spring',
  status: 'PUBLISHED',
  primaryLanguage: 'en',
  translationGroupId: '2f4b8c1d-9e67-4b1a-8d25-7c0e9f1a3b44',
  title: 'A garden in spring',
} as const;

/** The `data` of each event of this service; the type checker keeps them true (contract.md E1 to E10). */
export const EVENT_EXAMPLES: EventPayloads = {
  'article.created': { articleId, projectId: articleSet.projectId, title: articleSet.title },
  'article.generation.started': { articleId, jobId, estimatedCredits: 8 },
  'article.generation.completed': { articleId, jobId, consumedCredits: 4 },
  'article.generation.failed': {
    articleId,
    jobId,
    error: 'The writer did not respond in time. Nothing was charged.',
  },
  'article.approved': {
    articleId,
    reviewId: '0c9a7f52-1d0b-4f3e-a8c6-6b1f2d3e4a55',
    previousStatus: 'NEEDS_REVIEW',
  },
  'article.rejected': {
    articleId,
    reviewId: '0c9a7f52-1d0b-4f3e-a8c6-6b1f2d3e4a55',
    decision: 'changes_requested',
  },
  'article.published': articleSet,
  'article.updated': { ...articleSet, changed: ['title', 'slug'], previousSlug: 'garden-in-spring' },
  'article.unpublished': {
    ...articleSet,
    status: 'DRAFT',
    previousStatus: 'PUBLISHED',
    reason: 'status_changed',
  },
  'image.generated': { articleId, assetId: '8d3e5f60-2b7c-4c19-9f84-1a6b7c8d9e66', type: 'inline' },
  'image.regenerated': { articleId, assetId: '8d3e5f60-2b7c-4c19-9f84-1a6b7c8d9e66', type: 'hero' },
  'credits.purchased': { creditAmount: 500, paymentEventId: 'evt_2026_11_0042' },
  'credits.granted': { creditAmount: 1000, paymentEventId: 'evt_2026_11_0043' },
  'credits.consumed': { articleId, jobId, credits: 4 },
};

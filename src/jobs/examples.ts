import { articleExample } from '../articles/examples.ts';
import type { Job } from './schemas.ts';

/** A newly queued translation, for the reference page. */
export const queuedJobExample: Job = {
  id: 'c93b7e15-2f4a-4d08-8e6b-5a1d9f3c7e20',
  articleId: '9e2a4c60-7d1b-4f85-b3e7-1c8f5d0a6b42',
  workspaceId: articleExample.workspaceId,
  projectId: articleExample.projectId,
  status: 'QUEUED',
  kind: 'translation',
  currentStep: null,
  progress: 0,
  idempotencyKey: 'spring-guide-es-1',
  estimatedCredits: 1,
  reservedCredits: 1,
  consumedCredits: 0,
  errorCode: null,
  errorMessage: null,
  createdAt: '2026-11-21T07:30:00.000Z',
};

export const runningJobExample: Job = {
  ...queuedJobExample,
  status: 'TRANSLATING',
  currentStep: 'translate',
  progress: 40,
};

export const cancelledJobExample: Job = { ...runningJobExample, status: 'CANCELLED' };

export const completedJobExample: Job = {
  ...queuedJobExample,
  status: 'COMPLETED',
  currentStep: 'finalize',
  progress: 100,
  consumedCredits: 1,
};

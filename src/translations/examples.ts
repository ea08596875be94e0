import { articleExample, summaryExample } from '../articles/examples.ts';
import type { Article } from '../articles/schemas.ts';
import { completedJobExample, queuedJobExample } from '../jobs/examples.ts';
import type { ListedTranslation } from './schemas.ts';

/** The empty version that a new job fills. */
const queuedArticle: Article = {
  ...articleExample,
  id: queuedJobExample.articleId,
  status: 'QUEUED',
  documentJson: { version: 1, blocks: [] },
  contentHtml: null,
  contentMarkdown: null,
  metaTitle: null,
  targetKeywords: [],
  primaryLanguage: 'es',
  wordCount: 0,
};

/** Responses of createTranslation for the reference page. */
export const createdExample = {
  article: queuedArticle,
  job: queuedJobExample,
  estimate: { words: 612, total: 1 },
  reused: false,
};

export const replayExample = {
  article: {
    ...articleExample,
    id: completedJobExample.articleId,
    title: 'Un jardín en primavera',
    slug: 'un-jardin-en-primavera',
    status: 'NEEDS_REVIEW',
    primaryLanguage: 'es',
  },
  job: completedJobExample,
  estimate: null,
  reused: true,
};

/** A version whose source has changed a little since. */
export const listedExample: ListedTranslation = {
  article: {
    ...summaryExample,
    id: completedJobExample.articleId,
    title: 'Un jardín en primavera',
    slug: 'un-jardin-en-primavera',
    status: 'NEEDS_REVIEW',
    primaryLanguage: 'es',
  },
  job: completedJobExample,
  sourceArticleId: articleExample.id,
  tracking: 'managed',
  states: { current: 45, stale: 2, edited: 4, editedAndStale: 1, new: 1, gone: 0 },
};

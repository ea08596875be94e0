import { articleExample } from '../articles/examples.ts';
import type { Article } from '../articles/schemas.ts';
import { completedJobExample, queuedJobExample } from '../jobs/examples.ts';

/** The empty version in the target language that a new job fills. */
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

/** Answers of translation create for the reference page. */
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

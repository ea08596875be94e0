import type { Article } from './schemas.ts';

/** An article for the reference page. */
export const articleExample: Article = {
  id: '0b8f6a52-1f0e-4d7a-9c55-6a2f1e7d3c90',
  workspaceId: '7f9c24e8-3b12-4fef-91e0-5b3f6f2f3a11',
  projectId: '2d6f0a8e-4c1b-4b7e-8e39-9a1c5d7f2b64',
  title: 'A garden in spring',
  slug: 'a-garden-in-spring',
  status: 'DRAFT',
  documentJson: {
    version: 1,
    blocks: [
      { id: 'intro', type: 'paragraph', text: 'Water the **young** plants early.', format: 'markdown' },
    ],
  },
  contentHtml: '<p>Water the <strong>young</strong> plants early.</p>',
  contentMarkdown: 'Water the **young** plants early.\n',
  metaTitle: 'A garden in spring',
  metaDescription: null,
  targetKeywords: ['spring garden'],
  secondaryKeywords: [],
  primaryLanguage: 'en',
  translationGroupId: '5a0d7c3e-8b1f-4e62-a7d4-3c9e2f6b1a08',
  generationConfig: null,
  outline: null,
  createdBy: null,
  publishedAt: null,
  briefId: null,
  publishedUrl: null,
  wordCount: 5,
  createdAt: '2026-11-21T07:30:00.000Z',
  updatedAt: '2026-11-21T07:30:00.000Z',
  contentTag: '"content-1"',
};

const {
  documentJson: _document,
  contentHtml: _html,
  contentMarkdown: _markdown,
  generationConfig: _config,
  outline: _outline,
  contentTag: _tag,
  ...summary
} = articleExample;

/** The same article in a list. */
export const summaryExample = summary;

/** A request body that creates it. */
export const createExample = {
  title: articleExample.title,
  primaryLanguage: 'en',
  documentJson: articleExample.documentJson,
  targetKeywords: articleExample.targetKeywords,
};

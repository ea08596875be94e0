/** What a model is asked in a paid operation. Shapes only. */

import type { Candidate, Suggestions } from '../db/suggestions.ts';

/** contract.md S1. */
export const MAX_SUGGESTIONS = 7;

/** Which categories fit an article, and which new ones would if none does. */
export interface ArticleQuestion {
  readonly kind: 'article_categories';
  readonly language: string;
  readonly title: string;
  readonly keywords: readonly string[];
  /** The beginning of the article as plain text. */
  readonly text: string;
  /** Named to a model by their position, counted from 1. */
  readonly candidates: readonly Candidate[];
  /** Names of the categories that the article carries already, each in the article's language if it has one. */
  readonly carried: readonly string[];
  /** Names in other languages of further categories, which have none in the article's. */
  readonly elsewhere: readonly string[];
}

/** Which new categories a project could use. */
export interface ProjectQuestion {
  readonly kind: 'project_categories';
  readonly language: string;
  readonly titles: readonly string[];
  readonly keywords: readonly string[];
  readonly ideas: readonly { readonly title: string; readonly keywords: readonly string[] }[];
  /** Names that the workspace's categories already have, in any language. */
  readonly taken: readonly string[];
}

/** What a category is called in other languages. */
export interface NamesQuestion {
  readonly kind: 'category_names';
  readonly language: string;
  readonly name: string;
  /** Canonical tags, each once. */
  readonly targets: readonly string[];
}

export type Question = ArticleQuestion | ProjectQuestion | NamesQuestion;

/** How many suggestions there are. */
export function countSuggestions(suggestions: Suggestions): number {
  switch (suggestions.kind) {
    case 'article_categories':
      return suggestions.existing.length + suggestions.proposed.length;
    case 'project_categories':
      return suggestions.categories.length;
    case 'category_names':
      return suggestions.names.length;
  }
}

/** The questions of paid operations to a model. Types only. */

import type { Candidate, Suggestions } from '../db/suggestions.ts';

/** contract.md S1. */
export const MAX_SUGGESTIONS = 7;

/** Which existing categories fit an article, or which new ones if none does. */
export interface ArticleQuestion {
  readonly kind: 'article_categories';
  readonly language: string;
  readonly title: string;
  readonly keywords: readonly string[];
  /** The beginning of the article as plain text. */
  readonly text: string;
  /** A model refers to them by position, from 1. */
  readonly candidates: readonly Candidate[];
  /** Names of the article's categories, in the article's language where available. */
  readonly carried: readonly string[];
  /** Names of other categories, in other languages, that have none in the article's. */
  readonly elsewhere: readonly string[];
}

/** Which new categories a project could use. */
export interface ProjectQuestion {
  readonly kind: 'project_categories';
  readonly language: string;
  readonly titles: readonly string[];
  readonly keywords: readonly string[];
  readonly ideas: readonly { readonly title: string; readonly keywords: readonly string[] }[];
  /** Names of the workspace's categories, in any language. */
  readonly taken: readonly string[];
}

/** A category's name in other languages. */
export interface NamesQuestion {
  readonly kind: 'category_names';
  readonly language: string;
  readonly name: string;
  /** Canonical tags, each once. */
  readonly targets: readonly string[];
}

export type Question = ArticleQuestion | ProjectQuestion | NamesQuestion;

/** Number of suggestions. */
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

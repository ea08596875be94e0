/** What a model is asked in a paid operation, and what comes of it. Shapes only. */

/** interface.md, Limits: suggestions from the AI suggestion endpoints. */
export const MAX_SUGGESTIONS = 7;

export const AI_OPERATION_KINDS = ['article_categories', 'project_categories', 'category_names'] as const;
export type AiOperationKind = (typeof AI_OPERATION_KINDS)[number];

/** A category that the article could be given. */
export interface Candidate {
  readonly id: string;
  /** In the article's language. */
  readonly name: string;
}

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
  /** Names that the workspace's categories have already, in whatever language. */
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

export interface ProposedCategory {
  readonly name: string;
  readonly reason: string;
}

export interface ArticleSuggestions {
  readonly kind: 'article_categories';
  readonly existing: readonly { readonly category: Candidate; readonly reason: string }[];
  readonly proposed: readonly ProposedCategory[];
}

export interface ProjectSuggestions {
  readonly kind: 'project_categories';
  readonly categories: readonly ProposedCategory[];
}

export interface NameSuggestions {
  readonly kind: 'category_names';
  readonly names: readonly { readonly language: string; readonly name: string }[];
}

/** A checked, non-empty result, as it is stored on the operation and answered. */
export type Suggestions = ArticleSuggestions | ProjectSuggestions | NameSuggestions;

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

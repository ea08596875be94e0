/** The results of paid suggestions as stored on their operation. Shapes only. */

const AI_OPERATION_KINDS = ['article_categories', 'project_categories', 'category_names'] as const;
export type AiOperationKind = (typeof AI_OPERATION_KINDS)[number];

/** A category that the article could be given. */
export interface Candidate {
  readonly id: string;
  /** In the article's language. */
  readonly name: string;
}

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

/** A checked, non-empty result, as stored on the operation and returned. */
export type Suggestions = ArticleSuggestions | ProjectSuggestions | NameSuggestions;

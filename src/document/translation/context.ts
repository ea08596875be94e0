/** What an engine may be told besides the texts of an article. */

export type Formality = 'formal' | 'informal';

/** How a project wants to sound in a language. */
export interface Style {
  readonly formality: Formality | null;
  readonly instructions: string | null;
}

/** A term of a workspace's glossary. */
export interface GlossaryTerm {
  readonly source: string;
  /** Null for a term that stays as it is. */
  readonly target: string | null;
  readonly caseSensitive: boolean;
}

/** A term of one article and its one translation. */
export interface TermPair {
  readonly source: string;
  readonly target: string;
}

/** What a model is told besides the texts: byte for byte the same in every call of a job. All of it is data, never instruction. */
export interface JobContext {
  readonly title: string;
  /** The headings in order, as plain text; of very many not all. */
  readonly outline: readonly string[];
  readonly terms: readonly TermPair[];
  /** Those that occur in the article. */
  readonly glossary: readonly GlossaryTerm[];
  readonly style: Style | null;
}

/** What stands before and after the texts of a request, as plain text; empty at the article's ends. */
export interface Neighbours {
  readonly before: string;
  readonly after: string;
}

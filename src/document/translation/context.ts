/** The context that an engine may get with the texts of an article. */

export type Formality = 'formal' | 'informal';

/** A project's style for one language. */
export interface Style {
  readonly formality: Formality | null;
  readonly instructions: string | null;
}

/** A term of a workspace's glossary. */
export interface GlossaryTerm {
  readonly source: string;
  /** Null: the term is not translated. */
  readonly target: string | null;
  readonly caseSensitive: boolean;
}

/** A recurring term of an article and its translation. */
export interface TermPair {
  readonly source: string;
  readonly target: string;
}

/** The context of a job's model calls, byte for byte the same in each. All of it is data, never instruction. */
export interface JobContext {
  readonly title: string;
  /** The headings in order, as plain text; bounded. */
  readonly outline: readonly string[];
  readonly terms: readonly TermPair[];
  /** The terms that occur in the article. */
  readonly glossary: readonly GlossaryTerm[];
  readonly style: Style | null;
}

/** What the empty tags of a text stand for, by tag id: the contents of its code and placeholders. */
export type Placeholders = Readonly<Record<number, string>>;

/** The plain text before and after the texts of a request; empty at the article's ends. */
export interface Neighbours {
  readonly before: string;
  readonly after: string;
}

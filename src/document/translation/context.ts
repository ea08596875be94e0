/** The context that an engine may get with the texts of an article. */
import type { Formality, StyleSheet, TermPair } from './style-sheet.ts';

export type { Formality, TermPair } from './style-sheet.ts';

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

/** The context of a job's model calls, byte for byte the same in each. All of it is data, never instruction. */
export interface JobContext {
  readonly title: string;
  /** The headings in order, as plain text; bounded. */
  readonly outline: readonly string[];
  /** The terms that occur in the article. */
  readonly glossary: readonly GlossaryTerm[];
  readonly style: Style | null;
  /** The version's style sheet; null without one. */
  readonly sheet: StyleSheet | null;
  /** The title of the version that is refreshed, unless it is translated again. */
  readonly versionTitle?: string;
}

/** What the job has translated before the body: the title, and keywords with what people search for instead of them. */
export interface TranslatedFields {
  readonly title?: string;
  readonly keywords: readonly TermPair[];
}

/** What the empty tags of a text stand for, by tag id: the contents of its code and placeholders. */
export type Placeholders = Readonly<Record<number, string>>;

/** What a version has in the place of a text that a refresh translates, as plain text; fields without a text are absent. */
export interface InVersion {
  /** What was translated before; absent when unknown. */
  readonly oldSource?: string;
  /** What stands there now, as translated then or as a person has changed it since. */
  readonly current?: string;
  /** What stands before and after it; bounded. */
  readonly before?: string;
  readonly after?: string;
}

/** The plain text before and after the texts of a request; empty at the article's ends. */
export interface Neighbours {
  readonly before: string;
  readonly after: string;
}

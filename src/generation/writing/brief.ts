/** What a run writes from and has written, and what can be wrong with it. */
import type { Block } from '../../document/format/schema.ts';
import type { Defect as AnyDefect } from '../../providers/ask.ts';
import type { GenerationConfig } from '../config.ts';
import type { Outline } from '../outline.ts';
import type { Mended } from './markdown/mendings.ts';
import type { Plan } from './plan.ts';

/** An article that a text may link to: PUBLISHED, in the project. */
export interface LinkableArticle {
  readonly id: string;
  readonly title: string;
}

/** A quote of a web page, as the writer gets it. Its number is its place in the list, from 1. */
export interface BriefNote {
  readonly quote: string;
  readonly title: string;
  readonly site: string;
  /** `2026-03-02`; null where the page does not say. */
  readonly published: string | null;
}

/** Inputs of a run. Customers wrote them, and pages of strangers the notes, so a model gets them as data only. */
export interface WritingBrief {
  readonly config: GenerationConfig;
  /** The title that a person gave the article; null when it is still to be found. */
  readonly title: string | null;
  /** The keywords that a person gave the article, target keywords first. */
  readonly keywords: readonly string[];
  /** The day on which the run was requested: `2026-03-02`. */
  readonly date: string;
  /** The instructions of the brand voice; null when there is none. */
  readonly voice: string | null;
  /** The text of the content template; null when there is none. */
  readonly template: string | null;
  /** What research has found; empty without. */
  readonly notes: readonly BriefNote[];
}

/** Kinds of defects. */
export type DefectCode =
  | 'chatter'
  | 'empty'
  | 'figure'
  | 'language'
  | 'length'
  | 'refused'
  | 'repeated'
  | 'shape'
  | 'truncated';

/** A defect of a model's output. */
export interface Defect extends AnyDefect {
  readonly code: DefectCode;
}

/** A section or the FAQ as written and stored. Later parts and the body are built from it. */
export interface WrittenPart {
  /** Valid blocks with ids of their own; without the section's heading. */
  readonly blocks: readonly Block[];
  /** Words of the blocks, code included; none of a section that is left out. */
  readonly words: number;
  /** What was corrected without a call. */
  readonly mended: Mended;
}

/** The article as far as it is written. */
export interface ArticleSoFar {
  readonly outline: Outline;
  /** What its sections are written by; null when there is none. */
  readonly plan: Plan | null;
  /** Its sections as written, in the order of the outline. */
  readonly finished: readonly WrittenPart[];
  /** The questions at the end; null until they are written. */
  readonly faq: WrittenPart | null;
}

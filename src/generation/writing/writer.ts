/** The interface of writers, and their requests. */
import type { Block } from '../../document/format/schema.ts';
import type { Defect as AnyDefect, RejectedResponse } from '../../providers/ask.ts';
import type { ChatResponse } from '../../providers/chat-model.ts';
import type { GenerationConfig } from '../config.ts';
import type { Outline, OutlineSection, SectionBounds } from '../outline.ts';
import type { Mended } from './markdown/mendings.ts';

/** An article that a text may link to: PUBLISHED, in the project. */
export interface LinkableArticle {
  readonly id: string;
  readonly title: string;
}

/** Inputs of a run. Customers wrote them, so a model gets them as data only. */
export interface WritingBrief {
  readonly config: GenerationConfig;
  /** The instructions of the brand voice; null when there is none. */
  readonly voice: string | null;
  /** The text of the content template; null when there is none. */
  readonly template: string | null;
}

/** Kinds of defects. */
export type DefectCode =
  | 'chatter'
  | 'empty'
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

interface Question {
  readonly brief: WritingBrief;
  /** Aborts the call; the writer then rejects with the signal's reason. */
  readonly signal: AbortSignal;
  /** The rejected output, in a repair request. */
  readonly rejected?: RejectedResponse<Defect> | undefined;
}

export interface OutlineQuestion extends Question {
  /** Words of the body. */
  readonly words: number;
  /** Sections it may have. */
  readonly sections: SectionBounds;
}

export interface SectionQuestion extends Question {
  readonly title: string;
  readonly section: OutlineSection;
  /** Words it should have, without its heading. */
  readonly words: number;
  readonly context: SectionContext;
  /** Titles of the articles it may link to, named by their position, counted from 1. */
  readonly articles: readonly string[];
}

/** The context of a section: at most 2,000 words. */
export interface SectionContext {
  /** The headings of all sections. */
  readonly headings: readonly string[];
  /** One line about each finished section. */
  readonly finished: readonly string[];
  /** The last words of the preceding text. */
  readonly before: string;
}

export interface FaqQuestion extends Question {
  readonly title: string;
  /** Words of all questions and answers. */
  readonly words: number;
  readonly context: SectionContext;
}

/** A model that writes articles. Its output is unchecked: an outline of `model-output.ts`, or Markdown. */
export interface ArticleWriter {
  readonly name: string;
  /** What its calls are listed under. */
  readonly model: string;
  /** @throws {ProviderError} `refused` when the model declines, another kind without a response; or the signal's reason */
  outline(question: OutlineQuestion): Promise<ChatResponse>;
  section(question: SectionQuestion): Promise<ChatResponse>;
  faq(question: FaqQuestion): Promise<ChatResponse>;
}

/** The writers of a deployment, by `writingQuality`. */
export type ArticleWriters = Readonly<Record<GenerationConfig['writingQuality'], ArticleWriter>>;

/** Input of `planOutline`. */
export interface OutlineRequest {
  readonly brief: WritingBrief;
  /** Calls with a response in earlier attempts; 0 by default. */
  readonly answered?: number;
  readonly signal: AbortSignal;
}

/** Input of `writeSection`. */
export interface SectionRequest {
  readonly brief: WritingBrief;
  readonly outline: Outline;
  /** The section's position, from 0. */
  readonly index: number;
  /** Earlier sections as written, in order, without their headings. */
  readonly finished: readonly WrittenPart[];
  readonly articles: readonly LinkableArticle[];
  /** Calls with a response in earlier attempts; 0 by default. */
  readonly answered?: number;
  readonly signal: AbortSignal;
}

/** Input of `writeFaq`; all sections are finished. */
export type FaqRequest = Omit<SectionRequest, 'index' | 'articles'>;

/** A section or the FAQ as written and stored. Later parts and the body are built from it. */
export interface WrittenPart {
  /** Valid blocks with ids of their own; without the section's heading. */
  readonly blocks: readonly Block[];
  /** Words of the blocks, code included. */
  readonly words: number;
  /** What was corrected without a call. */
  readonly mended: Mended;
}

/** The interface that every model that writes articles implements, and what it is asked. */
import type { Block } from '../../document/format/schema.ts';
import type { Defect as AnyDefect, RejectedResponse } from '../../providers/ask.ts';
import type { ChatResponse } from '../../providers/chat-model.ts';
import type { GenerationConfig } from '../config.ts';
import type { Outline, OutlineSection, SectionBounds } from '../outline.ts';

/** An article that a text may link to: PUBLISHED, in the project. */
export interface LinkableArticle {
  readonly id: string;
  readonly title: string;
}

/** What a run writes from. All of it is data to a model: customers wrote it. */
export interface WritingBrief {
  readonly config: GenerationConfig;
  /** The instructions of the brand voice; null when there is none. */
  readonly voice: string | null;
  /** The text of the content template; null when there is none. */
  readonly template: string | null;
}

/** What kind of thing is wrong with an answer. */
export type DefectCode =
  | 'address'
  | 'chatter'
  | 'empty'
  | 'heading'
  | 'language'
  | 'length'
  | 'link'
  | 'markdown'
  | 'repeated'
  | 'shape'
  | 'truncated';

/** Something wrong with an answer. */
export interface Defect extends AnyDefect {
  readonly code: DefectCode;
}

interface Question {
  readonly brief: WritingBrief;
  /** Aborts the call; the writer then rejects with the signal's reason. */
  readonly signal: AbortSignal;
  /** Present when it is asked again. */
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

/** What stands around a section: at most 2,000 words. */
export interface SectionContext {
  /** The headings of all sections. */
  readonly headings: readonly string[];
  /** One line about each finished section. */
  readonly finished: readonly string[];
  /** The last words before it. */
  readonly before: string;
}

export interface FaqQuestion extends Question {
  readonly title: string;
  /** Words of all questions and answers. */
  readonly words: number;
  readonly context: SectionContext;
}

/** A model that writes articles. Its answers are unchecked; their shapes are those of `answers.ts`. */
export interface ArticleWriter {
  readonly name: string;
  /** @throws {ProviderError} `refused` when the model declines, another kind when there is no answer; or the signal's reason */
  outline(question: OutlineQuestion): Promise<ChatResponse>;
  section(question: SectionQuestion): Promise<ChatResponse>;
  faq(question: FaqQuestion): Promise<ChatResponse>;
}

/** The writers of a deployment, by `writingQuality`. */
export type ArticleWriters = Readonly<Record<GenerationConfig['writingQuality'], ArticleWriter>>;

/** What `planOutline` works from. */
export interface OutlineRequest {
  readonly brief: WritingBrief;
  /** Calls that earlier attempts had answered; by default none. */
  readonly answered?: number;
  readonly signal: AbortSignal;
}

/** What `writeSection` works from. */
export interface SectionRequest {
  readonly brief: WritingBrief;
  readonly outline: Outline;
  /** Which section, counted from 0. */
  readonly index: number;
  /** The sections before it, in order, as they were written: without their headings. */
  readonly finished: readonly WrittenPart[];
  readonly articles: readonly LinkableArticle[];
  /** Calls that earlier attempts had answered; by default none. */
  readonly answered?: number;
  readonly signal: AbortSignal;
}

/** What `writeFaq` works from: the finished sections are all of them. */
export type FaqRequest = Omit<SectionRequest, 'index' | 'articles'>;

/** A section or the FAQ as written. Kept as it is, for the parts after it and the body are made from it. */
export interface WrittenPart {
  /** Valid blocks with ids of their own; without the section's heading. */
  readonly blocks: readonly Block[];
  /** Words of the blocks. */
  readonly words: number;
  /** Words that the model was asked for, over all calls. */
  readonly asked: number;
}

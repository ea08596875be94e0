/** The interface of writers, and what their callers need. */
import type { ChatResponse } from '../../providers/chat-model.ts';
import type { GenerationConfig } from '../config.ts';
import type { Outline } from '../outline.ts';
import type { LinkableArticle, WritingBrief, WrittenPart } from './brief.ts';
import type { Plan } from './plan.ts';
import type { Question } from './prompts/index.ts';

/** A model that writes articles. Its output is unchecked; `prompts/` has what it is asked for. */
export interface ArticleWriter {
  readonly name: string;
  /** What its calls are listed under. */
  readonly model: string;
  /** What it can have before it at once, its response included. */
  readonly contextTokens: number;
  /** @throws {ProviderError} `refused` when the model declines, another kind without a response; or the signal's reason */
  ask(question: Question): Promise<ChatResponse>;
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
  /** Words of the lead that will stand before the sections. */
  readonly lead: number;
  /** What the sections are written by; null when there is none. */
  readonly plan: Plan | null;
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

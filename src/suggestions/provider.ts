/** The interface that every model for suggestions implements. */
import { ProviderError } from '../providers/types.ts';
import type { Question } from './model-questions.ts';

/** An earlier answer that could not be used. */
export interface Rejection {
  /** As the model gave it; null when there was none. */
  readonly answer: string | null;
  readonly problems: readonly Problem[];
}

/** Something wrong with an answer. */
export interface Problem {
  /** In our words, for a model to read. */
  readonly problem: string;
  /** What it is about, as the model gave it, of at most 80 characters: data, and never part of an instruction. */
  readonly given?: string;
}

export interface SuggestionRequest {
  readonly question: Question;
  /** Aborts the call; the provider then rejects with the signal's reason. */
  readonly signal: AbortSignal;
  /** Present when the question is asked again. */
  readonly rejected?: Rejection;
}

/** A model that makes suggestions. */
export interface SuggestionProvider {
  readonly name: string;
  /**
   * The answer as parsed JSON, unchecked: its shape is that of `answerSchemas`.
   * @throws {UnusableAnswer} for an answer that is not a JSON object or was cut off
   * @throws {ProviderError} `refused` when the model declines, another kind when there is no answer; or the
   *   signal's reason
   */
  answer(request: SuggestionRequest): Promise<unknown>;
}

/** The model answered, but with no object that could be checked. The message says why, in words it understands. */
export class UnusableAnswer extends Error {
  override readonly name = 'UnusableAnswer';
}

/** The request never reached a model: there was no connection. */
export class ModelNotReached extends ProviderError {}

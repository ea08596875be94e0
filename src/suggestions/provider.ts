/** The interface that every model for suggestions implements. */
import type { RejectedAnswer } from '../providers/ask.ts';
import type { ChatAnswer } from '../providers/chat-model.ts';
import { ProviderError } from '../providers/types.ts';
import type { Question } from './model-questions.ts';

export interface SuggestionRequest {
  readonly question: Question;
  /** Aborts the call; the provider then rejects with the signal's reason. */
  readonly signal: AbortSignal;
  /** Present when the question is asked again. */
  readonly rejected?: RejectedAnswer | undefined;
}

/** A model that makes suggestions. */
export interface SuggestionProvider {
  readonly name: string;
  /**
   * The answer, unchecked: the shape of its object is that of `answerSchemas`.
   * @throws {ProviderError} `refused` when the model declines, another kind when there is no answer; or the
   *   signal's reason
   */
  answer(request: SuggestionRequest): Promise<ChatAnswer>;
}

/** The request never reached a model: there was no connection. */
export class ModelNotReached extends ProviderError {}

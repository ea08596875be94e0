/** The interface that every model for suggestions implements. */
import type { RejectedResponse } from '../providers/ask.ts';
import type { ChatResponse } from '../providers/chat-model.ts';
import { ProviderError } from '../providers/types.ts';
import type { Question } from './model-questions.ts';

export interface SuggestionRequest {
  readonly question: Question;
  /** Aborts the call; the provider then rejects with the signal's reason. */
  readonly signal: AbortSignal;
  /** Present for a second attempt. */
  readonly rejected?: RejectedResponse | undefined;
}

/** A model that makes suggestions. */
export interface SuggestionProvider {
  readonly name: string;
  /**
   * Requests suggestions. The response is unchecked; its object should have the shape of `responseSchemas`.
   * @throws {ProviderError} `refused` when the model declines, another kind when there is no response; or the
   *   signal's reason
   */
  suggest(request: SuggestionRequest): Promise<ChatResponse>;
}

/** The request did not reach a model: there was no connection. */
export class ModelNotReached extends ProviderError {}

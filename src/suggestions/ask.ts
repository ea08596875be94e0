import type { Database } from '../db/database.ts';
import type { Suggestions } from '../db/suggestions.ts';
import type { AiOperationId } from '../ids.ts';
import { askUntilUsable, type Defect } from '../providers/ask.ts';
import type { ChatResponse } from '../providers/chat-model.ts';
import { ProviderError } from '../providers/types.ts';
import type { AskResult } from '../temporal/shapes.ts';
import { inTheBackground } from '../threads/share.ts';
import { countSuggestions, type Question } from './model-questions.ts';
import { findOpenOperation, markRequested, storeResult, unmarkRequested } from './operations.ts';
import { ModelNotReached, type SuggestionProvider } from './provider.ts';
import { findTakenNames, readQuestion } from './read-question.ts';
import { checkResponse, type FindTaken } from './responses.ts';

const MAX_CALLS = 2;
/** Characters of a rejected response that are sent back to the model. */
const MAX_SHOWN = 4_000;

/** Milliseconds after which no further request is sent: the client would not get the result. */
const NO_MORE_REQUESTS_AFTER_MS = 35_000;
/** Names in other languages are not checked here: saving checks them. */
const NOTHING_TAKEN: FindTaken = async () => new Set();

export interface AskDependencies {
  readonly db: Database;
  readonly provider: SuggestionProvider;
}

/**
 * Requests the suggestions of an open operation from the model, and stores the result. No model is called when the hold is
 * closed, a result is already stored, or the target is deleted or has no content to use.
 * @throws {ProviderError} when the request to the model failed, or the signal's reason
 */
export async function askOperation(
  { db, provider }: AskDependencies,
  id: AiOperationId,
  signal: AbortSignal,
): Promise<AskResult> {
  const early = AbortSignal.timeout(NO_MORE_REQUESTS_AFTER_MS);
  const operation = await findOpenOperation(db, id);
  if (operation === null) return { kind: 'ended' };
  if (operation.result !== null) {
    return { kind: 'answered', suggestions: countSuggestions(operation.result) };
  }
  const question = await readQuestion(db, operation);
  if (question === null) return { kind: 'answered', suggestions: 0 };
  const marked = await markRequested(db, id);
  if (marked === null) return { kind: 'ended' };
  let suggestions: Suggestions | null;
  try {
    suggestions = await inTheBackground(operation.workspaceId, () =>
      askModel(provider, question, findTakenNames(db, operation.workspaceId), signal),
    );
  } catch (error) {
    if (error instanceof ModelNotReached && !marked.again) await unmarkRequested(db, id, marked.mark);
    throw error;
  }
  if (suggestions === null) return { kind: 'answered', suggestions: 0 };
  if (!(await storeResult(db, id, suggestions))) return { kind: 'ended' };
  const first = suggestions;
  const whole = await inTheBackground(operation.workspaceId, () =>
    askForMissing(provider, question, first, AbortSignal.any([signal, early])),
  );
  if (whole !== suggestions && !(await storeResult(db, id, whole))) return { kind: 'ended' };
  return { kind: 'answered', suggestions: countSuggestions(whole) };
}

/**
 * Requests the languages that are missing from a response once more. The first result is kept in any case.
 * @returns the suggestions, possibly with more names
 */
async function askForMissing(
  provider: SuggestionProvider,
  question: Question,
  suggestions: Suggestions,
  signal: AbortSignal,
): Promise<Suggestions> {
  if (question.kind !== 'category_names' || suggestions.kind !== 'category_names') return suggestions;
  const named = new Set(suggestions.names.map(({ language }) => language));
  const targets = question.targets.filter((tag) => !named.has(tag));
  if (targets.length === 0 || signal.aborted) return suggestions;
  const missing = { ...question, targets };
  try {
    const { value } = await checkResponse(
      missing,
      await provider.suggest({ question: missing, signal }),
      NOTHING_TAKEN,
    );
    if (value?.kind !== 'category_names') return suggestions;
    const names = [...suggestions.names, ...value.names];
    const order = (language: string): number => question.targets.indexOf(language);
    return { ...suggestions, names: names.sort((one, other) => order(one.language) - order(other.language)) };
  } catch {
    return suggestions;
  }
}

/**
 * Calls the model, and once more with the defects when the response is unusable.
 * @returns null when nothing usable came back
 */
export async function askModel(
  provider: SuggestionProvider,
  question: Question,
  findTaken: FindTaken,
  signal: AbortSignal,
): Promise<Suggestions | null> {
  const { value } = await askUntilUsable<Suggestions, Defect>({
    ask: (rejected) =>
      provider.suggest({ question, rejected, signal }).catch((error: unknown) => {
        if (isRefusal(error)) return DECLINED;
        // The model responded to the first call, so it was reached.
        throw error instanceof ModelNotReached && rejected !== undefined
          ? new ProviderError(error.kind, error.message)
          : error;
      }),
    check: async (response) =>
      response === DECLINED
        ? { value: null, defects: [{ problem: 'It was declined.' }] }
        : checkResponse(question, response, findTaken),
    calls: MAX_CALLS,
    shown: MAX_SHOWN,
    signal,
  });
  return value !== null && countSuggestions(value) > 0 ? value : null;
}

/** The response of a model that declined. */
const DECLINED: ChatResponse = { object: null, truncated: false };
const isRefusal = (error: unknown): boolean => error instanceof ProviderError && error.kind === 'refused';

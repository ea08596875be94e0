import type { Database } from '../db/database.ts';
import type { Suggestions } from '../db/suggestions.ts';
import type { AiOperationId } from '../ids.ts';
import { askUntilUsable, type Defect } from '../providers/ask.ts';
import type { ChatAnswer } from '../providers/chat-model.ts';
import { ProviderError } from '../providers/types.ts';
import type { AskResult } from '../temporal/shapes.ts';
import { checkAnswer, type FindTaken } from './answers.ts';
import { countSuggestions, type Question } from './model-questions.ts';
import { findOpenOperation, markAsked, storeResult, unmarkAsked } from './operations.ts';
import { ModelNotReached, type SuggestionProvider } from './provider.ts';
import { findTakenNames, readQuestion } from './read-question.ts';

const MAX_CALLS = 2;
/** How much of a rejected answer the model is shown again. */
const MAX_SHOWN = 4_000;

/** Milliseconds after which no more questions are asked: the request would no longer get the result. */
const MORE_UNTIL_MS = 35_000;
/** Names in other languages may be those of other categories: saving decides. */
const NOTHING_TAKEN: FindTaken = async () => new Set();

export interface AskDependencies {
  readonly db: Database;
  readonly provider: SuggestionProvider;
}

/**
 * Asks the model the question of an open operation, and stores the result. An operation whose hold
 * is no longer open is left alone; one that was answered before is not asked again; one about something that
 * is gone, or has nothing to draw on, calls no model.
 * @throws {ProviderError} when the model could not be asked, or the signal's reason
 */
export async function askOperation(
  { db, provider }: AskDependencies,
  id: AiOperationId,
  signal: AbortSignal,
): Promise<AskResult> {
  const early = AbortSignal.timeout(MORE_UNTIL_MS);
  const operation = await findOpenOperation(db, id);
  if (operation === null) return { kind: 'ended' };
  if (operation.result !== null) {
    return { kind: 'answered', suggestions: countSuggestions(operation.result) };
  }
  const question = await readQuestion(db, operation);
  if (question === null) return { kind: 'answered', suggestions: 0 };
  const marked = await markAsked(db, id);
  if (marked === null) return { kind: 'ended' };
  let suggestions: Suggestions | null;
  try {
    suggestions = await askModel(provider, question, findTakenNames(db, operation.workspaceId), signal);
  } catch (error) {
    if (error instanceof ModelNotReached && !marked.again) await unmarkAsked(db, id, marked.mark);
    throw error;
  }
  if (suggestions === null) return { kind: 'answered', suggestions: 0 };
  if (!(await storeResult(db, id, suggestions))) return { kind: 'ended' };
  const whole = await askForMissing(provider, question, suggestions, AbortSignal.any([signal, early]));
  if (whole !== suggestions && !(await storeResult(db, id, whole))) return { kind: 'ended' };
  return { kind: 'answered', suggestions: countSuggestions(whole) };
}

/**
 * Asks once more for the languages that an answer left out. The first answer is kept whatever the second brings.
 * @returns the suggestions, or more of them
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
    const { value } = await checkAnswer(
      missing,
      await provider.answer({ question: missing, signal }),
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
 * Asks once, and once more with the reason when the answer can't be used.
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
      provider.answer({ question, rejected, signal }).catch((error: unknown) => {
        if (isRefusal(error)) return DECLINED;
        // Once the model has answered, it was reached, whatever happens to the second question.
        throw error instanceof ModelNotReached && rejected !== undefined
          ? new ProviderError(error.kind, error.message)
          : error;
      }),
    check: async (answer) =>
      answer === DECLINED
        ? { value: null, defects: [{ problem: 'It was declined.' }] }
        : checkAnswer(question, answer, findTaken),
    calls: MAX_CALLS,
    shown: MAX_SHOWN,
    signal,
  });
  return value !== null && countSuggestions(value) > 0 ? value : null;
}

/** Stands for the answer of a model that declined. */
const DECLINED: ChatAnswer = { object: null, truncated: false };
const isRefusal = (error: unknown): boolean => error instanceof ProviderError && error.kind === 'refused';

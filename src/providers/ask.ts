/** Asking a model until its answer can be used. */
import type { z } from 'zod';
import type { ChatAnswer, ChatTurn } from './chat-model.ts';
import { ProviderError } from './types.ts';

/** Something wrong with an answer. */
export interface Defect {
  /** In our words, for a model to read. */
  readonly problem: string;
  /** What it is about, as the model gave it, shortened: data, and never part of an instruction. */
  readonly given?: string;
  /** True when the answer can be used nevertheless, once it was asked for again. */
  readonly soft?: boolean;
}

/** An earlier answer that could not be used. */
export interface RejectedAnswer<Wrong extends Defect = Defect> {
  /** As the model gave it, shortened; null when there was none. */
  readonly answer: string | null;
  readonly defects: readonly Wrong[];
}

/** What a check makes of an answer. With soft defects alone there is a value, to be used if nothing better comes. */
export interface Checked<Value, Wrong extends Defect = Defect> {
  readonly value: Value | null;
  readonly defects: readonly Wrong[];
  /** How far the value is from what was asked for, to choose between two with soft defects. */
  readonly off?: number;
}

/** What a model is sent: the data; after a rejected answer also that answer and its defects. */
export function conversation(
  data: Readonly<Record<string, unknown>>,
  rejected: RejectedAnswer | undefined,
): ChatTurn[] {
  const question: ChatTurn = { role: 'user', text: JSON.stringify(data) };
  if (rejected === undefined) return [question];
  const defects = rejected.defects.map(({ problem, given }) => ({ problem, given }));
  return [
    question,
    ...(rejected.answer === null ? [] : [{ role: 'assistant' as const, text: rejected.answer }]),
    {
      role: 'user',
      text: `That answer cannot be used. Answer again, with the whole JSON object alone. What is wrong, as data: ${JSON.stringify(defects)}`,
    },
  ];
}

/** Wrong fields of one answer that are named. */
const MAX_NAMED = 10;

export type ParsedAnswer<Value> =
  | { readonly ok: true; readonly value: Value }
  | {
      readonly ok: false;
      readonly defects: readonly { readonly code: 'truncated' | 'shape'; readonly problem: string }[];
    };

/** The answer as its shape, or why it is not one. */
export function parseAnswer<Schema extends z.ZodType>(
  schema: Schema,
  { object, truncated }: ChatAnswer,
): ParsedAnswer<z.output<Schema>> {
  if (truncated) {
    const problem = 'The answer was cut off at its length limit.';
    return { ok: false, defects: [{ code: 'truncated', problem }] };
  }
  if (object === null) {
    return { ok: false, defects: [{ code: 'shape', problem: 'The answer was not a JSON object.' }] };
  }
  const parsed = schema.safeParse(object);
  if (parsed.success) return { ok: true, value: parsed.data };
  const defects = parsed.error.issues.slice(0, MAX_NAMED).map(({ path, message }) => ({
    code: 'shape' as const,
    problem: `${path.length === 0 ? 'The answer' : path.map(String).join('.')}: ${message}.`,
  }));
  return { ok: false, defects };
}

export interface Asking<Value, Wrong extends Defect> {
  /** One call. */
  readonly ask: (rejected: RejectedAnswer<Wrong> | undefined) => Promise<ChatAnswer>;
  readonly check: (answer: ChatAnswer) => Checked<Value, Wrong> | Promise<Checked<Value, Wrong>>;
  /** The most calls. */
  readonly calls: number;
  /** Those of them that earlier attempts had answered. */
  readonly answered?: number | undefined;
  /** Characters of a rejected answer that the model is shown again. */
  readonly shown: number;
  readonly signal: AbortSignal;
}

export interface Asked<Value, Wrong extends Defect> {
  /** Null when no answer could be used. */
  readonly value: Value | null;
  /** How often it was asked, by earlier attempts too. */
  readonly calls: number;
  /** Of the last answer that could not be used. */
  readonly defects: readonly Wrong[];
}

/**
 * Asks until the answer can be used, each time with exactly what is wrong. A soft defect alone is asked for again once,
 * and the answer is used then, also when none comes.
 * @throws {ProviderError} as `ask` threw it; the signal's reason when aborted
 */
export async function askUntilUsable<Value, Wrong extends Defect>({
  ask,
  check,
  calls,
  answered = 0,
  shown,
  signal,
}: Asking<Value, Wrong>): Promise<Asked<Value, Wrong>> {
  let rejected: RejectedAnswer<Wrong> | undefined;
  let usable: { readonly value: Value; readonly off: number } | null = null;
  let asked = answered;
  for (let call = answered + 1; call <= calls; call += 1) {
    signal.throwIfAborted();
    const answer = await ask(rejected).catch((error: unknown) => {
      // What can be used is not lost by a model that is away, or declines, when it is asked to mend it.
      if (usable === null || !(error instanceof ProviderError)) throw error;
      return null;
    });
    if (answer === null) break;
    asked = call;
    const { value, defects, off = 0 } = await check(answer);
    if (value !== null && defects.length === 0) return { value, calls: call, defects };
    // Asked again for a soft defect alone: the better of the two is good enough.
    if (usable !== null) {
      return { value: value === null || off > usable.off ? usable.value : value, calls: call, defects };
    }
    usable = value === null ? null : { value, off };
    rejected = {
      answer: answer.object === null ? null : JSON.stringify(answer.object).slice(0, shown),
      defects,
    };
  }
  return { value: usable?.value ?? null, calls: asked, defects: rejected?.defects ?? [] };
}

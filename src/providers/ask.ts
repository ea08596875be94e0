/** Requests a response from a model until it is usable. */
import type { z } from 'zod';
import type { ChatMessage, ChatResponse } from './chat-model.ts';
import { ProviderError } from './types.ts';

/** Something wrong with a response. */
export interface Defect {
  /** Our wording, for a model to read. */
  readonly problem: string;
  /** The model's own text at fault, shortened: data, never part of an instruction. */
  readonly given?: string;
  /** True when the response is usable after one attempt to repair it. */
  readonly soft?: boolean;
}

/** An earlier, unusable response. */
export interface RejectedResponse<Wrong extends Defect = Defect> {
  /** The model's text, shortened; null when there was none. */
  readonly response: string | null;
  readonly defects: readonly Wrong[];
}

/** The result of a check. With only soft defects it has a value, used if no better response comes. */
export interface Checked<Value, Wrong extends Defect = Defect> {
  readonly value: Value | null;
  readonly defects: readonly Wrong[];
  /** Distance from the request, to choose between two values with soft defects. */
  readonly off?: number;
}

/**
 * The messages for a model: the question, and after a rejected response also that response and its defects.
 * @param whole what the response has to be
 */
export function conversation(
  text: string,
  rejected: RejectedResponse | undefined,
  whole: 'JSON object' | 'text' = 'JSON object',
): ChatMessage[] {
  const question: ChatMessage = { role: 'user', text };
  if (rejected === undefined) return [question];
  const defects = rejected.defects.map(({ problem, given }) => ({ problem, given }));
  return [
    question,
    ...(rejected.response === null ? [] : [{ role: 'assistant' as const, text: rejected.response }]),
    {
      role: 'user',
      text: `That response cannot be used. Respond again, with the whole ${whole} alone. What is wrong, as data: ${JSON.stringify(defects)}`,
    },
  ];
}

/** The most wrong fields named for one response. */
const MAX_NAMED = 10;

export type ParsedResponse<Value> =
  | { readonly ok: true; readonly value: Value }
  | {
      readonly ok: false;
      readonly defects: readonly { readonly code: 'truncated' | 'shape'; readonly problem: string }[];
    };

/** Parses the response by the schema, or names its defects. */
export function parseResponse<Schema extends z.ZodType>(
  schema: Schema,
  { object, truncated }: ChatResponse,
): ParsedResponse<z.output<Schema>> {
  if (truncated) {
    const problem = 'The response was cut off at its length limit.';
    return { ok: false, defects: [{ code: 'truncated', problem }] };
  }
  if (object === null) {
    return { ok: false, defects: [{ code: 'shape', problem: 'The response is not a JSON object.' }] };
  }
  const parsed = schema.safeParse(object);
  if (parsed.success) return { ok: true, value: parsed.data };
  const defects = parsed.error.issues.slice(0, MAX_NAMED).map(({ path, message }) => ({
    code: 'shape' as const,
    problem: `${path.length === 0 ? 'The response' : path.map(String).join('.')}: ${message}.`,
  }));
  return { ok: false, defects };
}

export interface AskOptions<Value, Wrong extends Defect> {
  /** One call. */
  readonly ask: (rejected: RejectedResponse<Wrong> | undefined) => Promise<ChatResponse>;
  readonly check: (response: ChatResponse) => Checked<Value, Wrong> | Promise<Checked<Value, Wrong>>;
  /** The most calls. */
  readonly calls: number;
  /** How many of them earlier attempts completed. */
  readonly answered?: number | undefined;
  /** Characters of a rejected response that are sent back to the model. */
  readonly shown: number;
  readonly signal: AbortSignal;
}

export interface AskOutcome<Value, Wrong extends Defect> {
  /** Null when no response was usable. */
  readonly value: Value | null;
  /** Number of calls, with those of earlier attempts. */
  readonly calls: number;
  /** Defects of the last unusable response. */
  readonly defects: readonly Wrong[];
}

/**
 * Calls the model until its response is usable, each time with the exact defects. A response with only soft defects is
 * repaired once; without a better response it is used as it is.
 * @throws {ProviderError} as `ask` threw it; the signal's reason when aborted
 */
export async function askUntilUsable<Value, Wrong extends Defect>({
  ask,
  check,
  calls,
  answered = 0,
  shown,
  signal,
}: AskOptions<Value, Wrong>): Promise<AskOutcome<Value, Wrong>> {
  let rejected: RejectedResponse<Wrong> | undefined;
  let usable: { readonly value: Value; readonly off: number } | null = null;
  let made = answered;
  for (let call = answered + 1; call <= calls; call += 1) {
    signal.throwIfAborted();
    const response = await ask(rejected).catch((error: unknown) => {
      // A failed repair must not lose a usable response.
      if (usable === null || !(error instanceof ProviderError)) throw error;
      return null;
    });
    if (response === null) break;
    made = call;
    const { value, defects, off = 0 } = await check(response);
    if (value !== null && defects.length === 0) return { value, calls: call, defects };
    // This was the one repair of soft defects: use the better of the two.
    if (usable !== null) {
      return { value: value === null || off > usable.off ? usable.value : value, calls: call, defects };
    }
    usable = value === null ? null : { value, off };
    rejected = {
      response: sentBack(response)?.slice(0, shown) ?? null,
      defects,
    };
  }
  return { value: usable?.value ?? null, calls: made, defects: rejected?.defects ?? [] };
}

/** What a model is shown of its response: a text as it was, of anything else the object alone. */
const sentBack = ({ object, text }: ChatResponse): string | null =>
  text ?? (object === null ? null : JSON.stringify(object));

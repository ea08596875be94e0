import type { ChatAnswer } from '../../providers/chat-model.ts';
import { ProviderError } from '../../providers/types.ts';
import type { Defect, DefectCode, RejectedAnswer } from './writer.ts';

/** Calls for one outline, section or FAQ. */
const MAX_CALLS = 3;
/** How much of a rejected answer the model is shown again. */
const MAX_SHOWN = 20_000;

/** What was wrong, for people: a model is told more exactly. */
const REASONS: Readonly<Record<DefectCode, string>> = {
  address: 'it had web or e-mail addresses',
  chatter: 'it spoke about itself instead of the topic',
  empty: 'a part of it was empty',
  heading: 'its headings were out of order',
  language: 'it was not in the requested language',
  length: 'it was too long',
  link: 'it had links that are not allowed',
  markdown: 'it had formatting that an article cannot have',
  repeated: 'it repeated itself',
  shape: 'it did not have the requested form',
  truncated: 'it broke off in the middle',
};

/** What a check makes of an answer. With soft defects alone there is a value, to be used if nothing better comes. */
export interface Checked<Value> {
  readonly value: Value | null;
  readonly defects: readonly Defect[];
  /** How far the value is from what was asked for, to choose between two with soft defects. */
  readonly off?: number;
}

export interface Asking<Value> {
  /** One call. */
  readonly ask: (rejected: RejectedAnswer | undefined) => Promise<ChatAnswer>;
  readonly check: (answer: ChatAnswer) => Checked<Value>;
  /** How often it may be asked at most; by default three times. */
  readonly calls?: number;
  /** Calls of these that earlier attempts had answered; by default none. */
  readonly answered?: number | undefined;
  /** What was to be written, for the message: `the section "Soil"`. */
  readonly what: string;
  readonly signal: AbortSignal;
}

/**
 * Asks until the answer can be used, and tells the writer each time exactly what is wrong. A soft defect alone is asked
 * for again once, and the answer is used then, also when none comes.
 * @returns the value and how often it was asked, by earlier attempts too
 * @throws {ProviderError} as the writer threw it, or `fatal` with what was wrong at last; the signal's reason when aborted
 */
export async function askUntilUsable<Value>({
  ask,
  check,
  calls = MAX_CALLS,
  answered = 0,
  what,
  signal,
}: Asking<Value>): Promise<{ value: Value; calls: number }> {
  let rejected: RejectedAnswer | undefined;
  let usable: { readonly value: Value; readonly off: number } | null = null;
  let codes: readonly DefectCode[] = [];
  let asked = answered;
  for (let call = answered + 1; call <= Math.min(calls, MAX_CALLS); call += 1) {
    signal.throwIfAborted();
    const answer = await ask(rejected).catch((error: unknown) => {
      // What can be used is not lost by a model that is away, or declines, when it is asked to mend it.
      if (usable === null || !(error instanceof ProviderError)) throw error;
      return null;
    });
    if (answer === null) break;
    asked = call;
    const { value, defects, off = 0 } = check(answer);
    if (value !== null && defects.length === 0) return { value, calls: call };
    // Asked again for a soft defect alone: the better of the two is good enough.
    if (usable !== null) {
      return { value: value === null || off > usable.off ? usable.value : value, calls: call };
    }
    usable = value === null ? null : { value, off };
    codes = defects.map(({ code }) => code);
    rejected = { answer: JSON.stringify(answer.object)?.slice(0, MAX_SHOWN) ?? null, defects };
  }
  if (usable !== null) return { value: usable.value, calls: asked };
  const reasons = [...new Set(codes)].map((code) => REASONS[code]).join('; ');
  throw new ProviderError(
    'fatal',
    `No usable text was written for ${what}${reasons === '' ? '' : `: ${reasons}`}. Try again, or change the topic or the prompt.`,
  );
}

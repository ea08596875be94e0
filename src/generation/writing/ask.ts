import { type AskOptions, askUntilUsable } from '../../providers/ask.ts';
import { ProviderError } from '../../providers/types.ts';
import type { Defect, DefectCode } from './writer.ts';

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

interface WritingRequest<Value>
  extends Pick<AskOptions<Value, Defect>, 'ask' | 'check' | 'answered' | 'signal'> {
  /** How often it may be asked at most; by default three times. */
  readonly calls?: number;
  /** What was to be written, for the message: `the section "Soil"`. */
  readonly what: string;
}

/**
 * Asks the writer for a part until it can be used.
 * @returns the part and how often it was asked for, by earlier attempts too
 * @throws {ProviderError} as the writer threw it, or `fatal` with what was wrong at last; the signal's reason when aborted
 */
export async function askWriter<Value>({
  calls = MAX_CALLS,
  what,
  ...asking
}: WritingRequest<Value>): Promise<{ value: Value; calls: number }> {
  const bounds = { calls: Math.min(calls, MAX_CALLS), shown: MAX_SHOWN };
  const { value, defects, ...asked } = await askUntilUsable<Value, Defect>({ ...asking, ...bounds });
  if (value !== null) return { value, ...asked };
  const reasons = [...new Set(defects.map(({ code }) => REASONS[code]))].join('; ');
  throw new ProviderError(
    'fatal',
    `No usable text was written for ${what}${reasons === '' ? '' : `: ${reasons}`}. Try again, or change the topic or the prompt.`,
  );
}

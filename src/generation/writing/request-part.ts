import { type AskOptions, askUntilUsable } from '../../providers/ask.ts';
import { ProviderError } from '../../providers/types.ts';
import { MAX_ANSWERED } from '../call-limits.ts';
import type { Defect, DefectCode } from './brief.ts';

/** Characters of a rejected response that a repair request contains. */
const MAX_SHOWN = 20_000;

/** Defects in words for customers; the model gets the exact problem. */
const REASONS: Readonly<Record<DefectCode, string>> = {
  chatter: 'it spoke about itself instead of the topic',
  empty: 'there was no text',
  figure: 'it had figures from nowhere',
  language: 'it was not in the requested language',
  length: 'it was too long',
  refused: 'the model declined to write it',
  repeated: 'it repeated itself',
  shape: 'it did not have the requested form',
  truncated: 'it broke off in the middle',
};

interface WritingRequest<Value>
  extends Pick<AskOptions<Value, Defect>, 'ask' | 'check' | 'answered' | 'signal'> {
  /** The part's name for the error message: `the section "Soil"`. */
  readonly what: string;
}

/**
 * Requests a part until the output is usable.
 * @returns the part and the number of calls, earlier attempts included
 * @throws {ProviderError} of the writer, or `unusable` with the last defects; the signal's reason when aborted
 */
export async function requestPart<Value>({
  what,
  ...request
}: WritingRequest<Value>): Promise<{ value: Value; calls: number }> {
  const bounds = { calls: MAX_ANSWERED, shown: MAX_SHOWN };
  const { value, defects, ...rest } = await askUntilUsable<Value, Defect>({ ...request, ...bounds });
  if (value !== null) return { value, ...rest };
  const codes = [...new Set(defects.map(({ code }) => code))];
  const reasons = codes.map((code) => REASONS[code]).join('; ');
  throw new ProviderError(
    'unusable',
    `No usable text was written for ${what}${reasons === '' ? '' : `: ${reasons}`}. Try again, or change the topic or the prompt.`,
    { defects: codes },
  );
}

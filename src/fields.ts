import { z } from 'zod';
import { parseId } from './ids.ts';

const UUID_PATTERN = '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$';
const UUID_META = {
  type: 'string' as const,
  format: 'uuid',
  maxLength: 36,
  pattern: UUID_PATTERN,
  examples: ['7f9c24e8-3b12-4fef-91e0-5b3f6f2f3a11'],
};
const LANGUAGE_META = {
  type: 'string' as const,
  minLength: 2,
  maxLength: 64,
  // Wider than the rule, which no pattern expresses in full: every tag matches, but not every match is a tag.
  pattern: '^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$',
  examples: ['pt-BR'],
};

/** The number of Unicode code points: the unit of every length in the contract. */
export const codePoints = (text: string): number => {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
};

/** Text converted by `parse`; null is refused with the message. */
const parsed = <Value>(parse: (text: string) => Value | null, message: string) =>
  z.string().transform((text, context): Value => {
    const value = parse(text);
    if (value !== null) return value;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });

/** An id of a body field with its brand: `idOf<RoleId>()`. */
export const idOf = <Id extends string>() =>
  parsed((text) => parseId<Id>(text), 'Expected a UUID.').meta(UUID_META);

/** An id as a plain string, in lower case. For documentation of responses, and where no brand is needed. */
export const uuid = idOf<string>();

/**
 * The tag in its canonical form (BCP 47 through `Intl.getCanonicalLocales`), or null for other text: `PT-br` gives
 * `pt-BR`. Languages of more than three letters are refused: BCP 47 reserves them, and none is registered.
 */
export function canonicalLanguage(tag: string): string | null {
  if (tag.length > LANGUAGE_META.maxLength) return null;
  try {
    const canonical = Intl.getCanonicalLocales(tag)[0] ?? '';
    return /^[a-z]{2,3}(?:-|$)/.test(canonical) ? canonical : null;
  } catch {
    return null;
  }
}

/** A language tag, canonicalised. */
export const languageTag = parsed(canonicalLanguage, 'Expected a language tag such as en or pt-BR.').meta(
  LANGUAGE_META,
);

/** Whether the text has `min` to `max` code points; text that is far too long is not counted. */
const hasLength = (text: string, min: number, max: number): boolean => {
  if (text.length > 2 * max) return false;
  const length = codePoints(text);
  return length >= min && length <= max;
};

/** Text as it is sent, of `min` to `max` code points. */
export const shortText = (min: number, max: number) =>
  z
    .string()
    .refine((text) => hasLength(text, min, max), `Expected ${min} to ${max} characters.`)
    .meta({ minLength: min, maxLength: max });

/** Most UTF-16 units that NFC combines into one code point. */
const NFC_RATIO = 8;
/** More marks on one letter than any language uses. Ordering them costs NFC the square of their number. */
const MAX_MARKS = 64;
const TOO_MANY_MARKS = new RegExp(`\\p{M}{${MAX_MARKS + 1}}`, 'u');
/** Any visible character: no space, control or ignorable code point. */
const VISIBLE = /[^\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Z}\u2800]/u;
/** The same for regular expressions without Unicode properties, such as OpenAPI readers'; slightly wider. */
const VISIBLE_PATTERN =
  '[^\\s\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u0600-\\u0605\\u061c\\u06dd\\u070f\\u0890\\u0891\\u08e2' +
  '\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\u2800\\u3164' +
  '\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufffb]';

/** Why the text is not one of `min` to `max` code points, or null. The cost is linear in its length. */
function refusalOf(trimmed: string, min: number, max: number): string | null {
  const length = `Expected ${min} to ${max} characters after trimming.`;
  if (trimmed.length > NFC_RATIO * max) return length;
  if (TOO_MANY_MARKS.test(trimmed)) return `Expected at most ${MAX_MARKS} combining marks in a row.`;
  if (!hasLength(trimmed.normalize('NFC'), min, max)) return length;
  return min > 0 && !VISIBLE.test(trimmed) ? 'Expected visible characters.' : null;
}

/**
 * Text in NFC without surrounding white space, of `min` to `max` code points after that. Where it may not be empty, it
 * may not look empty either.
 */
export const trimmedText = (min: number, max: number) =>
  z
    .string()
    .transform((text, context) => {
      const trimmed = text.trim();
      const refusal = refusalOf(trimmed, min, max);
      if (refusal === null) return trimmed.normalize('NFC');
      context.addIssue({ code: 'custom', message: refusal });
      return z.NEVER;
    })
    .meta({
      type: 'string',
      minLength: min,
      maxLength: max,
      ...(min > 0 ? { pattern: VISIBLE_PATTERN } : {}),
    });

const DATE_TIME =
  /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(?:Z|([+-])(\d{2}):(\d{2}))$/i;
const MAX_TIME = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
const MIN_TIME = new Date('0001-01-01T00:00:00Z').getTime();

/** The instant of an RFC 3339 date-time, or null when it is malformed or does not exist. */
export function parseDateTime(text: string): Date | null {
  const parts = DATE_TIME.exec(text);
  if (parts === null) return null;
  const at = (index: number): number => Number(parts[index] ?? 0);
  if (at(4) > 23 || at(5) > 59 || at(6) > 59 || at(9) > 23 || at(10) > 59) return null;
  const date = new Date(0);
  date.setUTCFullYear(at(1), at(2) - 1, at(3));
  if (date.getUTCMonth() !== at(2) - 1 || date.getUTCDate() !== at(3)) return null;
  const offset = (parts[8] === '-' ? -1 : 1) * (at(9) * 60 + at(10));
  date.setUTCHours(at(4), at(5) - offset, at(6), Number((parts[7] ?? '').padEnd(3, '0').slice(0, 3)));
  return date.getTime() >= MIN_TIME && date.getTime() <= MAX_TIME ? date : null;
}

/** A date-time with any offset, as a Date. */
export const dateTime = parsed(
  parseDateTime,
  'Expected a date-time with an offset, such as 2027-01-31T12:00:00Z.',
).meta({ type: 'string', format: 'date-time', maxLength: 35, examples: ['2027-01-31T12:00:00Z'] });

/** contract.md T12. */
export const idempotencyKey = shortText(8, 200).meta({ examples: ['translate-7f9c24e8-es'] });

const MAX_URL_LENGTH = 2_048;

/** The text of a URL; the address guard checks it. */
export const urlText = z
  .string()
  .max(MAX_URL_LENGTH, `Expected at most ${MAX_URL_LENGTH} characters.`)
  .meta({ format: 'uri' });

/** True for an http or https URL without a user name, a password, white space or controls. */
export function isWebAddress(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || /[\s\p{Cc}]/u.test(text)) return false;
  return ['http:', 'https:'].includes(url.protocol) && url.username === '' && url.password === '';
}

/** A URL for readers; the service never requests it. */
export const webAddress = z
  .string()
  .max(MAX_URL_LENGTH, `Expected at most ${MAX_URL_LENGTH} characters.`)
  .refine(isWebAddress, 'Expected an http or https URL without a user name and password.')
  .meta({ format: 'uri', examples: ['https://example.com/en/a-garden-in-spring'] });

/** A timestamp of a response: UTC with Z and milliseconds. */
export const timestamp = z.string().meta({ format: 'date-time', examples: ['2026-11-21T07:30:00.000Z'] });

export function iso(date: Date): string;
export function iso(date: Date | null): string | null;
/** A date of a response: UTC with Z and milliseconds; null stays null. */
export function iso(date: Date | null): string | null {
  return date === null ? null : date.toISOString();
}

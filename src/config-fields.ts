/** Kinds of values that environment variables have. */
import { z } from 'zod';
import { errorMessage } from './error-text.ts';
import { parseHeaderList } from './header-list.ts';
import { parseNetworks } from './networks.ts';
import { parseSecretKeys } from './secret-keys.ts';

/** A variable that is set but empty counts as not set, as shells and compose files produce them. */
export const optional = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess((value) => (value === '' ? undefined : value), schema.optional());
export const withDefault = <Schema extends z.ZodType>(schema: Schema, value: z.input<Schema>) =>
  z.preprocess((given) => (given === '' || given === undefined ? value : given), schema);

/** A number in plain decimal digits: the other forms of Number(), such as ' ', 0x50 and 1e3, are probably mistakes. */
const decimal = (schema: z.ZodNumber) =>
  z.preprocess(
    (given) => (typeof given === 'string' && /^\d{1,15}(?:\.\d{1,6})?$/.test(given) ? Number(given) : given),
    schema,
  );
const wanted = (what: string, min: number, max: number) =>
  `expected a ${what} in decimal digits, from ${min}${max === Number.MAX_SAFE_INTEGER ? '' : ` to ${max}`}`;
export const fraction = (min: number, max: number = Number.MAX_SAFE_INTEGER) => {
  const message = wanted('number', min, max);
  return decimal(z.number(message).min(min, message).max(max, message));
};
export const whole = (min: number, max: number = Number.MAX_SAFE_INTEGER) => {
  const message = wanted('whole number', min, max);
  return decimal(z.int(message).min(min, message).max(max, message));
};

export const port = whole(0, 65_535);
export const count = whole(0);
export const slots = whole(1, 10_000);
export const cachedWorkflows = whole(0, 100_000);
/** A fixed number of polls, or as many as the Temporal server advises. The SDK needs two where runs are cached. */
export const pollers = z.union(
  [z.literal('auto'), whole(2, 1_000)],
  'expected auto, or a whole number from 2 to 1000',
);
export const flag = z.enum(['true', 'false']).transform((text) => text === 'true');
export const postgresUrl = z
  .string()
  .refine(
    (text) => /^postgres(ql)?:\/\//.test(text) && URL.canParse(text),
    'expected postgres://user:password@host:port/database',
  );
export const serviceName = z.string().regex(/^[\w.-]{1,64}$/, 'expected 1 to 64 letters, digits, ._-');
export const httpUrl = z
  .string()
  .refine(
    (text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol),
    'expected http://host or https://host',
  );
/** A host alone: a path, a query or a password in it would not be part of what is signed. */
export const s3Endpoint = httpUrl.refine((text) => {
  const url = URL.parse(text);
  return url !== null && `${url.origin}/` === url.href;
}, 'expected http://host:port or https://host, without a path');
/** Of the kind that a header can have. */
export const visible = z.string().regex(/^[\x21-\x7e]{1,128}$/, 'expected 1 to 128 visible characters');
export const bucket = z
  .string()
  .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'expected 3 to 63 small letters, digits, dots and hyphens');
const list = z.string().transform((text) =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== ''),
);
export const networks = list.transform((cidrs, context) => {
  try {
    return parseNetworks(cidrs);
  } catch (error) {
    context.addIssue({ code: 'custom', message: errorMessage(error) });
    return z.NEVER;
  }
});
/** Checked like networks, but kept as text. */
export const cidrs = list.superRefine((texts, context) => {
  try {
    parseNetworks(texts);
  } catch (error) {
    context.addIssue({ code: 'custom', message: errorMessage(error) });
  }
});

export const secretKeys = list.transform((entries, context) => {
  try {
    return parseSecretKeys(entries);
  } catch (error) {
    context.addIssue({ code: 'custom', message: errorMessage(error) });
    return z.NEVER;
  }
});

export const headerList = list.transform((entries, context) => {
  try {
    return parseHeaderList(entries);
  } catch (error) {
    context.addIssue({ code: 'custom', message: errorMessage(error) });
    return z.NEVER;
  }
});

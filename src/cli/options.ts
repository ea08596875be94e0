import { z } from 'zod';
import { codePoints, languageTag } from '../fields.ts';

/** Options that do not say what they should; the message names each of them. */
class OptionError extends Error {
  override readonly name = 'OptionError';
}

/** A whole number from `min` to `max`, written in digits. */
export const integer = (min: number, max: number) =>
  z
    .string()
    .regex(/^-?\d{1,16}$/, 'Expected a whole number.')
    .transform(Number)
    .pipe(z.number().min(min, `Expected at least ${min}.`).max(max, `Expected at most ${max}.`));

const commaSeparated = z.string().transform((text) =>
  text
    .split(',')
    .map((item) => item.normalize('NFC').trim())
    .filter((item) => item !== ''),
);

/** Values separated by commas, trimmed, repeats once, each checked by `item`. */
export const listOf = <Item extends z.ZodType<unknown, string>>(item: Item, max: number) =>
  commaSeparated
    .pipe(z.array(item).max(max, `Expected at most ${max} values.`))
    .transform((items) => [...new Set(items)]);

/** Language tags, canonical. */
export const languages = (max: number) => listOf(languageTag, max);

/** Short free texts such as keywords. */
export const texts = (maxCharacters: number, maxItems: number) =>
  listOf(
    z
      .string()
      .refine(
        (text) => codePoints(text) <= maxCharacters,
        `Expected at most ${maxCharacters} characters each.`,
      ),
    maxItems,
  );

const optionName = (key: string): string =>
  `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/**
 * The options as commander read them, checked and converted.
 * @throws {OptionError} naming every bad option and what it should be
 */
export function parseOptions<Schema extends z.ZodType>(schema: Schema, given: unknown): z.output<Schema> {
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const lines = parsed.error.issues.map(({ path, message }) => {
    const [key] = path;
    return key === undefined ? message : `${optionName(String(key))}: ${message}`;
  });
  throw new OptionError([...new Set(lines)].join('\n'));
}

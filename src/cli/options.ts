import { z } from 'zod';

/** Invalid options; the message names each of them. */
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

/** Values separated by commas, trimmed, without repeats: to be checked by the schema of a list. */
export const commaSeparated = z.string().transform((text) => [
  ...new Set(
    text
      .split(',')
      .map((item) => item.normalize('NFC').trim())
      .filter((item) => item !== ''),
  ),
]);

const optionName = (key: string): string =>
  `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/**
 * The options as read by commander, checked and converted.
 * @throws {OptionError} naming every bad option and what it should be
 */
export function parseOptions<Schema extends z.ZodType>(schema: Schema, given: unknown): z.output<Schema> {
  const parsed = schema.safeParse(given, {
    error: ({ code, input, values }) =>
      code === 'invalid_value' && Array.isArray(values)
        ? `${String(input)} is not one of ${values.join(', ')}.`
        : undefined,
  });
  if (parsed.success) return parsed.data;
  const lines = parsed.error.issues.map(({ path, message }) => {
    const [key] = path;
    return key === undefined ? message : `${optionName(String(key))}: ${message}`;
  });
  throw new OptionError([...new Set(lines)].join('\n'));
}

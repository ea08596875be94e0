import { z } from 'zod';
import { invalid } from '../errors.ts';
import { parseId } from '../ids.ts';
import { parseDateTime } from './fields.ts';

/** A whole number written in a query parameter. */
export const integerParameter = (min: number, max: number, fallback: number) =>
  z
    .string()
    .optional()
    .transform((text, context): number => {
      if (text === undefined) return fallback;
      const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
      if (value >= min && value <= max) return value;
      context.addIssue({ code: 'custom', message: `Expected a whole number from ${min} to ${max}.` });
      return z.NEVER;
    })
    .meta({ type: 'integer', minimum: min, maximum: max, default: fallback });

/** Characters of a cursor; ours are shorter. */
const MAX_CURSOR = 200;

/** Query parameters of every list that is read page by page. */
export const pageQuery = z.object({
  limit: integerParameter(1, 100, 50),
  cursor: z.string().max(MAX_CURSOR).optional().meta({
    pattern: '^[A-Za-z0-9_-]+$',
    description: 'The nextCursor of the page before. Omitted for the first page.',
  }),
});

/** Where a page of rows ordered by time and id ended. */
export interface Position<Id extends string> {
  readonly at: Date;
  readonly id: Id;
}

/** The position as opaque text that a client sends back. */
export const encodeCursor = ({ at, id }: Position<string>): string =>
  Buffer.from(`${at.toISOString()} ${id}`).toString('base64url');

/**
 * The position a client sent back, or null when it sent none.
 * @throws {ServiceError} INVALID_REQUEST for text that no page ended with
 */
export function decodeCursor<Id extends string>(cursor: string | undefined): Position<Id> | null {
  if (cursor === undefined) return null;
  const [time = '', text = '', ...rest] = Buffer.from(cursor, 'base64url').toString().split(' ');
  const at = parseDateTime(time);
  const id = parseId<Id>(text);
  if (at === null || id === null || rest.length > 0) {
    throw invalid('query/cursor', 'Send the nextCursor of the page before, unchanged.');
  }
  return { at, id };
}

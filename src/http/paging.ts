import { type QueryExecutorProvider, type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
import { z } from 'zod';
import { invalid } from '../errors.ts';
import { iso, parseDateTime } from '../fields.ts';
import { parseId } from '../ids.ts';

/** A query parameter that is a whole number. */
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

/** Maximum characters of a cursor; ours are shorter. */
const MAX_CURSOR = 200;

/** The field of a cursor, which may be left out. */
export const cursorOf = (description: string) =>
  z.string().max(MAX_CURSOR).optional().meta({ pattern: '^[A-Za-z0-9_-]+$', description });

/** Query parameters of a paginated list. */
export const pageQueryOf = (most: number, usual: number) =>
  z.object({
    limit: integerParameter(1, most, usual),
    cursor: cursorOf('The nextCursor of the previous page. Omit it for the first page.'),
  });

/** Those of most lists. */
export const pageQuery = pageQueryOf(100, 50);

/** The last field of every page. */
export const nextCursor = z.string().nullable().meta({ description: 'Null on the last page.' });

/** Where a page of rows ordered by time and id ended. */
export interface Position<Id extends string> {
  readonly at: Date;
  readonly id: Id;
}

/** The requested page. */
export interface PageRequest<Id extends string> {
  /** Maximum rows. */
  readonly limit: number;
  /** Where the previous page ended; null for the first page. */
  readonly position: Position<Id> | null;
}

/** Bytes of a page's rows as JSON at most: the widest rows make a page shorter than its limit. */
const ROWS_BYTES = 256 * 1024;

/** How many of the rows, from the first on, fit into ROWS_BYTES as JSON; one at least. */
function fitting(rows: readonly unknown[]): number {
  let bytes = 0;
  const tooMuch = rows.findIndex((row) => {
    bytes += Buffer.byteLength(JSON.stringify(row));
    return bytes > ROWS_BYTES;
  });
  return tooMuch === -1 ? rows.length : Math.max(1, tooMuch);
}

/**
 * Reads the first rows of a query in an order, as many as fit into 256 KiB as JSON; one at least. Postgres counts bytes of
 * text, which is cheap. As JSON a control character has six, so rows that it returns may be too many.
 * @param order of the query's columns, which it has under the same names
 * @returns the rows, and whether others follow
 */
export async function readFirst<DB, TB extends keyof DB, Row>(
  db: QueryExecutorProvider,
  query: SelectQueryBuilder<DB, TB, Row>,
  order: RawBuilder<unknown>,
  limit: number,
): Promise<{ rows: Row[]; more: boolean }> {
  // One extra row shows whether another page follows.
  const found = sql`${query} ORDER BY ${order} LIMIT ${limit + 1}`;
  const { rows } = await sql<Row & { rows_found: number }>`
    SELECT * FROM (
      SELECT page.*, row_number() OVER ordered AS row_position, count(*) OVER () AS rows_found,
        sum(octet_length(page::text)) OVER ordered AS rows_bytes
      FROM (${found}) AS page WINDOW ordered AS (ORDER BY ${order})
    ) AS measured
    WHERE rows_bytes <= ${ROWS_BYTES} OR row_position = 1 ORDER BY row_position`.execute(db);
  const shown = rows.slice(0, fitting(rows.slice(0, limit)));
  return { rows: shown, more: (rows[0]?.rows_found ?? 0) > shown.length };
}

/**
 * Reads a page of the query's rows, newest first. It has fewer than `limit` where more would be above 256 KiB.
 * @returns the rows, and where the next page begins; null on the last one
 */
export async function readPage<DB, TB extends keyof DB, Row extends { created_at: Date; id: string }>(
  db: QueryExecutorProvider,
  query: SelectQueryBuilder<DB, TB, Row>,
  { limit, position }: PageRequest<string>,
): Promise<{ rows: Row[]; nextCursor: string | null }> {
  const older =
    position === null
      ? query
      : query.where(sql<boolean>`(created_at, id) < (${iso(position.at)}, ${position.id})`);
  const { rows, more } = await readFirst(db, older, sql`created_at DESC, id DESC`, limit);
  const last = rows.at(-1);
  const nextCursor = more && last !== undefined ? encodeCursor({ at: last.created_at, id: last.id }) : null;
  return { rows, nextCursor };
}

/** The position as opaque text that a client sends back. */
export const encodeCursor = ({ at, id }: Position<string>): string =>
  Buffer.from(`${at.toISOString()} ${id}`).toString('base64url');

/**
 * The position of the client's cursor, or null without one.
 * @param pointer of the field that has it
 * @throws {ServiceError} INVALID_REQUEST for text that is no cursor
 */
export function decodeCursor<Id extends string>(
  cursor: string | undefined,
  pointer = 'query/cursor',
): Position<Id> | null {
  if (cursor === undefined) return null;
  const [time = '', text = '', ...rest] = Buffer.from(cursor, 'base64url').toString().split(' ');
  const at = parseDateTime(time);
  const id = parseId<Id>(text);
  if (at === null || id === null || rest.length > 0) {
    throw invalid(pointer, 'Send the nextCursor of the previous page, unchanged.');
  }
  return { at, id };
}

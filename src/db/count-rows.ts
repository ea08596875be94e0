import { type Expression, sql } from 'kysely';
import type { Queryable } from './database.ts';

/** Counts the rows of a query, which needs no columns. */
export async function countRows(db: Queryable, query: Expression<unknown>): Promise<number> {
  const { rows } = await sql<{
    count: number;
  }>`SELECT count(*)::integer AS count FROM ${query} AS counted`.execute(db);
  return rows[0]?.count ?? 0;
}

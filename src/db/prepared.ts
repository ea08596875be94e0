import type { CompiledQuery, Kysely, QueryExecutorProvider, QueryResult } from 'kysely';
import type pg from 'pg';

const names = new Map<string, string>();

/**
 * Marks a statement that every request runs: each connection parses and plans it once, and from then on is
 * only told its name.
 * @returns the text, to be run like any other
 */
export function preparedStatement(name: string, text: string): string {
  names.set(text, name);
  return text;
}

/** Runs a statement whose text is always the same under a name, as {@link preparedStatement} does. */
export function executePrepared<Tables, Row>(
  db: Kysely<Tables>,
  name: string,
  query: { compile(db: QueryExecutorProvider): CompiledQuery<Row> },
): Promise<QueryResult<Row>> {
  const compiled = query.compile(db);
  preparedStatement(name, compiled.sql);
  return db.executeQuery(compiled);
}

type Query = (text: unknown, values?: unknown, callback?: unknown) => unknown;

/** Makes a new connection send marked statements by name. */
export function sendPreparedByName(client: pg.PoolClient): void {
  const query = client.query.bind(client) as Query;
  const byName: Query = (text, values, callback) => {
    const name = typeof text === 'string' ? names.get(text) : undefined;
    return name === undefined ? query(text, values, callback) : query({ name, text, values }, callback);
  };
  Object.assign(client, { query: byName });
}

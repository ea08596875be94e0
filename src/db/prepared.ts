import {
  CompiledQuery,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryExecutorProvider,
  type QueryResult,
  type Transaction,
} from 'kysely';
import pg from 'pg';
import { joinStatements, type Query, sendWithNext, withCommit } from './joined-statements.ts';
import type { Tables } from './tables.ts';

const names = new Map<string, string>();

/**
 * Marks a statement of every request: each connection parses and plans it once, and then sends only its name.
 * @returns the text, to be run like any other
 */
export function preparedStatement(name: string, text: string): string {
  names.set(text, name);
  return text;
}

/** Runs a statement with a constant text by name, as {@link preparedStatement} does. */
export function executePrepared<Row>(
  db: Kysely<Tables>,
  name: string,
  query: Compilable<Row>,
): Promise<QueryResult<Row>> {
  const compiled = query.compile(db);
  preparedStatement(name, compiled.sql);
  return db.executeQuery(compiled);
}

/**
 * A statement with its text in the source, marked as {@link preparedStatement} does.
 * @returns runs it, with the values of `$1` and so on
 */
export function textStatement<Row>(
  name: string,
  text: string,
): (db: Kysely<Tables>, ...values: readonly unknown[]) => Promise<Row[]> {
  preparedStatement(name, text);
  return async (db, ...values) => {
    const { rows } = await db.executeQuery(CompiledQuery.raw(text, [...values]) as CompiledQuery<Row>);
    return rows;
  };
}

/**
 * Such a statement as the first one of its transaction: it is sent in the message of the next one, so it returns no rows
 * here. When it fails, so does that next one, with its error, and nothing of the transaction has an effect.
 */
export function firstStatement(
  name: string,
  text: string,
): (tx: Transaction<Tables>, ...values: readonly unknown[]) => Promise<void> {
  sendWithNext(preparedStatement(name, text));
  return async (tx, ...values) => {
    await tx.executeQuery(CompiledQuery.raw(text, [...values]));
  };
}

/** Such a statement as the last one of its transaction: COMMIT goes out with it. Nothing may follow. */
export function lastStatement<Row>(
  name: string,
  text: string,
): (tx: Transaction<Tables>, ...values: readonly unknown[]) => Promise<Row[]> {
  const both = withCommit({ text: preparedStatement(name, text), values: Number.POSITIVE_INFINITY });
  return async (tx, ...values) => {
    const { rows } = await tx.executeQuery(CompiledQuery.raw(both, [...values]));
    return rows[0] as Row[];
  };
}

interface Compilable<Row> {
  compile(db: QueryExecutorProvider): CompiledQuery<Row>;
}

/** Builds queries and runs none. */
const builder = new Kysely<Tables>({
  dialect: {
    createDriver: () => new DummyDriver(),
    createAdapter: () => new PostgresAdapter(),
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createIntrospector: (db) => new PostgresIntrospector(db),
  },
});

/** Placeholder in a statement for a value that differs by run. */
class Slot {
  readonly name: PropertyKey;

  constructor(name: PropertyKey) {
    this.name = name;
  }
}

/** Returns the placeholder of a value that differs by run. */
export type Slots<Values> = <Name extends keyof Values>(name: Name) => Values[Name];

type Build<Values, Row> = (db: Kysely<Tables>, slot: Slots<Values>) => Compilable<Row>;

/** Builds a statement, and marks it as {@link preparedStatement} does. */
function built<Values, Row>(name: string, build: Build<Values, Row>) {
  const { sql, parameters } = build(builder, (of) => new Slot(of) as never).compile(builder);
  const bind = (values: Values) =>
    parameters.map((value) => (value instanceof Slot ? values[value.name as keyof Values] : value));
  return { part: { text: preparedStatement(name, sql), values: parameters.length }, bind };
}

/**
 * A statement that is built once and runs by name, as {@link preparedStatement} does: building it takes longer than
 * sending it.
 * @param build writes the statement; `slot('id')` is the place of each run's `id`
 */
export function prepare<Values extends object, Row>(
  name: string,
  build: Build<Values, Row>,
): (db: Kysely<Tables>, values: Values) => Promise<Row[]> {
  const { part, bind } = built(name, build);
  const run = textStatement<Row>(name, part.text);
  return (db, values) => run(db, ...bind(values));
}

/**
 * A statement with its text in the source, to be built into {@link prepareBoth}.
 * @param values of `$1` and so on: slots
 */
export const textQuery = <Row>(text: string, values: readonly unknown[]): Compilable<Row> => ({
  compile: () => CompiledQuery.raw(text, [...values]) as CompiledQuery<Row>,
});

/**
 * Two such statements of one transaction, by name, sent in one message: see {@link joinStatements}.
 * @param isLast COMMIT goes out with them, and nothing may follow
 */
export function prepareBoth<FirstValues, First, SecondValues, Second>(
  names: readonly [string, string],
  first: Build<FirstValues, First>,
  second: Build<SecondValues, Second>,
  isLast = false,
): (tx: Transaction<Tables>, values: FirstValues & SecondValues) => Promise<[First[], Second[]]> {
  const both = [built(names[0], first), built(names[1], second)] as const;
  const parts = [both[0].part, both[1].part] as const;
  const text = isLast ? withCommit(...parts) : joinStatements(...parts);
  return async (tx, values) => {
    const query = CompiledQuery.raw(text, [...both[0].bind(values), ...both[1].bind(values)]);
    const { rows } = await tx.executeQuery(query);
    return rows as [First[], Second[]];
  };
}

/** A statement that is sent by its name. The object that `pg` takes instead is copied for each query: an eighth of its cost. */
class NamedQuery extends pg.Query {
  readonly name: string;

  constructor(
    name: string,
    text: string,
    values: unknown[],
    ended: ConstructorParameters<typeof pg.Query>[2],
  ) {
    super(text, values, ended);
    this.name = name;
  }
}

/** How a connection runs a marked statement by name, and any other as it is. */
export function sendingByName(client: pg.PoolClient): Query {
  const query = client.query.bind(client) as Query;
  return (text, ...rest) => {
    const name = typeof text === 'string' ? names.get(text) : undefined;
    if (name === undefined) return query(text, ...rest);
    return new Promise((resolve, reject) => {
      const ended = (error: Error | undefined, result: unknown) => (error ? reject(error) : resolve(result));
      query(new NamedQuery(name, text as string, rest[0] as unknown[], ended));
    }).catch((error: Error) => {
      // As `pg` does: the stack of whoever asked, not that of the socket.
      Error.captureStackTrace(error);
      throw error;
    });
  };
}

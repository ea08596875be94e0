import type pg from 'pg';

/** `query` of a client of `pg`. */
export type Query = (text: unknown, ...rest: unknown[]) => unknown;
type Answer = Promise<{ readonly rows: readonly unknown[] }>;

/** One of several statements that go out in one message. */
interface Part {
  readonly text: string;
  /** How many of the values are its own; Infinity for all that are left. */
  readonly values: number;
}

const COMMIT: Part = { text: 'commit', values: 0 };

/** By the text that stands for them. */
const messages = new Map<string, readonly Part[]>();

/**
 * Statements of one transaction that go out in one message: each does its work after the one before, whatever that has
 * answered. The connection has to send what it is given without waiting for the answer before (`pipeline`).
 * @returns a text to be run with the values of all of them, one after the other; its rows are the rows of each
 */
export function joinStatements(...parts: readonly Part[]): string {
  const text = parts.map((part) => part.text).join(';\n');
  messages.set(text, parts);
  return text;
}

/** The same for the last statements of a transaction and its COMMIT, which is a ROLLBACK should one of them fail. */
export const withCommit = (...last: readonly Part[]): string => joinStatements(...last, COMMIT);

/** Statements that wait for the one after them, when they are a transaction's first. */
const firsts = new Set<string>();

/** Makes a statement go out in one message with BEGIN and the statement that follows it. */
export const sendWithNext = (text: string): Set<string> => firsts.add(text);

const done = (command: string) => Promise.resolve({ command, rowCount: null, rows: [] });

/**
 * Makes a connection send BEGIN together with the first statement of its transaction, and in one message what {@link joinStatements}
 * has joined: a round trip less for each, and none for a transaction that asks nothing. What {@link sendWithNext} has marked
 * goes between BEGIN and that first statement, which fails with it.
 * @param query sends a single statement
 */
export function sendJoined(client: pg.PoolClient, query = client.query.bind(client) as Query): void {
  let isToBegin = false;
  /** A statement that goes out with BEGIN, and its values. */
  let first: [text: string, values: unknown] | null = null;
  /** The answer to a COMMIT that has gone out with the last statement. */
  let ended: Answer | null = null;

  function sendAll(parts: readonly Part[], values: readonly unknown[]): unknown {
    let from = 0;
    const answers = parts.map(({ text, values: count }) => {
      const own = values.slice(from, from + count);
      from += count;
      return query(text, own) as Answer;
    });
    if (parts.at(-1) === COMMIT) {
      ended = answers.pop() ?? null;
      // It is asked for later, and fails with the statement when the connection is lost.
      ended?.catch(() => undefined);
    }
    return Promise.all(answers).then((results) => ({
      command: 'SELECT',
      rowCount: null,
      rows: results.map(({ rows }) => rows),
    }));
  }

  /** @returns the answer to the statement that goes out with BEGIN, if there is one */
  function begin(): unknown {
    isToBegin = false;
    // Without it the rest would be committed a statement at a time: the connection goes.
    (query('begin') as Promise<unknown>).catch((error: Error) => client.connection.stream.destroy(error));
    const statement = first;
    first = null;
    return statement === null ? undefined : query(...statement);
  }

  const later: Query = (text, ...rest) => {
    if (text === 'begin') {
      isToBegin = true;
      return done('BEGIN');
    }
    const isEnd = text === 'commit' || text === 'rollback';
    if (ended !== null) {
      if (!isEnd) return Promise.reject(new Error('Nothing may follow the last statement of a transaction.'));
      const answer = ended;
      ended = null;
      return answer;
    }
    const parts = messages.get(String(text));
    if (!isToBegin && parts === undefined) return query(text, ...rest);
    if (isToBegin && first === null && firsts.has(String(text))) {
      first = [String(text), rest[0]];
      return done('SELECT');
    }
    if (isToBegin && isEnd) {
      isToBegin = false;
      first = null;
      return done(text.toUpperCase());
    }
    const { stream } = client.connection;
    stream.cork();
    try {
      const checked = isToBegin ? begin() : undefined;
      const answer =
        parts === undefined ? query(text, ...rest) : sendAll(parts, rest[0] as readonly unknown[]);
      return checked === undefined ? answer : Promise.all([answer, checked]).then(([given]) => given);
    } finally {
      stream.uncork();
    }
  };
  Object.assign(client, { query: later });
}

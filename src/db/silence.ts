import type pg from 'pg';

/** What Postgres gets beyond its own limit on a statement, in milliseconds. */
const MARGIN_MS = 2_000;
/** Milliseconds between two looks at a pool's connections. */
const LOOK_MS = 500;
/** A query without an answer for this long casts doubt on the connections that idle beside it. */
const DOUBT_MS = 2_000;
/** What a peer gets to close a connection that we have ended. */
const CLOSING_MS = 2_000;

interface Watched {
  readonly client: pg.PoolClient;
  /** When the oldest query without an answer was sent; null while there is none. */
  askedAt: number | null;
  /** How long its answer may take, in milliseconds. */
  limit: number;
  heardAt: number;
  idle: boolean;
  endedAt: number | null;
}

type Query = (text: unknown, values?: unknown, ...rest: unknown[]) => unknown;
type End = (callback: () => void) => void;

/** Gives the rest of a transaction another limit on its statements; 0 or more milliseconds, 0 for none. */
export const SET_STATEMENT_TIMEOUT = "SELECT set_config('statement_timeout', $1, true)";

const limitOf = (statementTimeout: number): number =>
  statementTimeout === 0 ? Number.POSITIVE_INFINITY : statementTimeout + MARGIN_MS;

/**
 * Destroys connections whose peer has gone without a word, which TCP itself notices after a quarter of an hour only: the
 * query that waits fails as on any lost connection, and the pool makes a new one. Connections that idle while another
 * waits in vain go at once, or the next caller would be given one of them.
 * @param statementTimeout what Postgres itself allows a statement, in milliseconds; with 0 nothing is too long
 */
export function destroySilentConnections(pool: pg.Pool, statementTimeout: number): void {
  const usual = limitOf(statementTimeout);
  const connections = new Map<pg.PoolClient, Watched>();
  let looking: NodeJS.Timeout | undefined;

  function look(): void {
    const now = performance.now();
    let oldest = Number.POSITIVE_INFINITY;
    for (const watched of connections.values()) {
      const { client, askedAt, limit, endedAt } = watched;
      if (endedAt !== null) {
        if (now - endedAt > CLOSING_MS) client.connection.stream.destroy();
      } else if (askedAt !== null) {
        if (now - askedAt > limit) giveUp(watched, askedAt);
        else if (now - askedAt > DOUBT_MS) oldest = Math.min(oldest, askedAt);
      }
    }
    if (oldest === Number.POSITIVE_INFINITY) return;
    for (const { client, idle, heardAt, endedAt } of connections.values()) {
      if (idle && endedAt === null && heardAt < oldest) {
        client.connection.stream.destroy(
          new Error('Connection terminated: others to Postgres do not answer'),
        );
      }
    }
  }

  pool.on('connect', (client) => {
    const watched: Watched = {
      client,
      askedAt: null,
      limit: usual,
      heardAt: performance.now(),
      idle: false,
      endedAt: null,
    };
    connections.set(client, watched);
    const query = client.query.bind(client) as Query;
    const end = client.end.bind(client) as End;
    Object.assign(client, {
      query: (text: unknown, values?: unknown, ...rest: unknown[]) => {
        watched.askedAt ??= performance.now();
        if (text === SET_STATEMENT_TIMEOUT && Array.isArray(values))
          watched.limit = limitOf(Number(values[0]));
        return query(text, values, ...rest);
      },
      end: (callback: () => void) => {
        watched.endedAt ??= performance.now();
        end(callback);
      },
    });
    client.on('drain', () => {
      watched.askedAt = null;
      watched.heardAt = performance.now();
    });
    client.on('end', () => {
      connections.delete(client);
      if (connections.size > 0) return;
      clearInterval(looking);
      looking = undefined;
    });
    looking ??= setInterval(look, LOOK_MS).unref();
  });
  const setIdle = (client: pg.PoolClient, idle: boolean) => {
    const watched = connections.get(client);
    if (watched === undefined) return;
    watched.idle = idle;
    watched.limit = usual;
  };
  pool.on('acquire', (client) => setIdle(client, false));
  pool.on('release', (_error, client) => setIdle(client, true));
}

/** After a look at the socket: when it was this process that stood still, the answer lies there. */
function giveUp(watched: Watched, askedAt: number): void {
  setImmediate(() => {
    if (watched.askedAt !== askedAt) return;
    watched.client.connection.stream.destroy(
      new Error(`Connection terminated: Postgres has not answered for ${watched.limit / 1_000} seconds`),
    );
  });
}

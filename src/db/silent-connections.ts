import type pg from 'pg';

/** Milliseconds that Postgres gets beyond its own limit on a statement. */
const MARGIN_MS = 2_000;
/** Milliseconds between two checks of a pool's connections. */
const LOOK_MS = 500;
/** A query unanswered for this long casts doubt on the idle connections of the pool. */
const DOUBT_MS = 1_000;
/** How long an idle connection in doubt gets to answer. */
const PROBE_MS = 1_000;
/** How long a peer gets to close a connection that we have ended. */
const CLOSING_MS = 2_000;

interface Watched {
  readonly client: pg.PoolClient;
  /** When the oldest query without an answer was sent; null while there is none. */
  askedAt: number | null;
  heardAt: number;
  idle: boolean;
  /** When it was asked whether it is still there; null while it is not in doubt. */
  probedAt: number | null;
  endedAt: number | null;
}

type Query = (text: unknown, values?: unknown, ...rest: unknown[]) => unknown;
type End = (callback: () => void) => void;

/**
 * Destroys connections whose peer has silently gone, which TCP itself notices only after a quarter of an hour: the
 * waiting query fails as on any lost connection, and the pool opens a new one. Connections that idle while another
 * waits long are probed too and dropped when they don't answer, or the next caller would get one of them.
 * @param statementTimeout what Postgres itself allows a statement, in milliseconds; with 0 nothing is too long
 */
export function destroySilentConnections(pool: pg.Pool, statementTimeout: number): void {
  const limit = statementTimeout === 0 ? Number.POSITIVE_INFINITY : statementTimeout + MARGIN_MS;
  const connections = new Map<pg.PoolClient, Watched>();
  let looking: NodeJS.Timeout | undefined;

  function look(): void {
    const now = performance.now();
    let oldest = Number.POSITIVE_INFINITY;
    for (const watched of connections.values()) {
      const { client, askedAt, probedAt, endedAt } = watched;
      if (endedAt !== null) {
        if (now - endedAt > CLOSING_MS) client.connection.stream.destroy();
      } else if (probedAt !== null && now - probedAt > PROBE_MS) {
        giveUp(watched, PROBE_MS, () => watched.probedAt === probedAt);
      } else if (askedAt !== null) {
        if (now - askedAt > limit) giveUp(watched, limit, () => watched.askedAt === askedAt);
        else if (now - askedAt > DOUBT_MS) oldest = Math.min(oldest, askedAt);
      }
    }
    if (oldest === Number.POSITIVE_INFINITY) return;
    for (const watched of connections.values()) {
      const { client, idle, probedAt, heardAt, endedAt } = watched;
      if (!idle || endedAt !== null || probedAt !== null || heardAt >= oldest) continue;
      watched.probedAt = now;
      // The next user of the connection waits for this answer first.
      client.query('SELECT 1', () => {
        watched.probedAt = null;
      });
    }
  }

  pool.on('connect', (client) => {
    const watched: Watched = {
      client,
      askedAt: null,
      heardAt: performance.now(),
      idle: false,
      probedAt: null,
      endedAt: null,
    };
    connections.set(client, watched);
    const query = client.query.bind(client) as Query;
    const end = client.end.bind(client) as End;
    Object.assign(client, {
      query: (text: unknown, values?: unknown, ...rest: unknown[]) => {
        watched.askedAt ??= performance.now();
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
    if (watched !== undefined) watched.idle = idle;
  };
  pool.on('acquire', (client) => setIdle(client, false));
  pool.on('release', (_error, client) => setIdle(client, true));
}

/** Run after the socket was read: if this process itself was blocked, the answer is already there. */
function giveUp({ client }: Watched, waitedMs: number, stillWaits: () => boolean): void {
  setImmediate(() => {
    if (!stillWaits()) return;
    client.connection.stream.destroy(
      new Error(`Connection terminated: Postgres has not responded for ${waitedMs / 1_000} seconds`),
    );
  });
}

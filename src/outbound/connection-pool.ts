import type { Connection } from './connection.ts';

/** Idle connections by origin. A pooled socket keeps the address it was vetted for. */
export interface ConnectionPool {
  /** Takes the most recently used idle connection of an origin, or null. */
  take(origin: string): Connection | null;
  /** Returns a connection whose response was read to the end, reusable within this many milliseconds. */
  give(origin: string, connection: Connection, reusableMs: number): void;
  close(): void;
}

interface Idle {
  readonly connection: Connection;
  readonly since: number;
  readonly until: number;
}

/** As many as may be in flight, so that no connection is dropped for lack of a place. */
const MAX_IDLE = 2_000;
/** So that a receiver that moves to another address is followed even under constant traffic. */
const MAX_AGE_MS = 60_000;
/** How often idle connections are swept; one that is taken is checked anyway. */
const SWEEP_MS = 1_000;

export function createConnectionPool(): ConnectionPool {
  const origins = new Map<string, Idle[]>();
  let size = 0;
  let closed = false;
  let sweeper: NodeJS.Timeout | undefined;

  const isUsable = ({ connection, until }: Idle): boolean => performance.now() < until && connection.isOpen();

  const sweep = (): void => {
    for (const [origin, idle] of origins) {
      const usable = idle.filter((entry) => {
        if (isUsable(entry)) return true;
        entry.connection.close();
        return false;
      });
      size -= idle.length - usable.length;
      if (usable.length === 0) origins.delete(origin);
      else origins.set(origin, usable);
    }
    if (size > 0) return;
    clearInterval(sweeper);
    sweeper = undefined;
  };

  return {
    take(origin) {
      const idle = origins.get(origin);
      for (let entry = idle?.pop(); entry !== undefined; entry = idle?.pop()) {
        size -= 1;
        const { connection, since } = entry;
        if (isUsable(entry)) {
          connection.socket.ref();
          connection.idledMs = performance.now() - since;
          return connection;
        }
        connection.close();
      }
      return null;
    },
    give(origin, connection, reusableMs) {
      const idle = origins.get(origin) ?? [];
      const since = performance.now();
      const until = Math.min(since + reusableMs, connection.openedAt + MAX_AGE_MS);
      const entry = { connection, since, until };
      if (closed || size >= MAX_IDLE || !isUsable(entry)) return connection.close();
      origins.set(origin, idle);
      idle.push(entry);
      size += 1;
      connection.socket.unref();
      sweeper ??= setInterval(sweep, SWEEP_MS).unref();
    },
    close() {
      closed = true;
      clearInterval(sweeper);
      for (const idle of origins.values()) for (const { connection } of idle) connection.close();
      origins.clear();
      size = 0;
    },
  };
}

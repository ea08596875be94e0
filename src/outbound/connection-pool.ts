import type { Connection } from './connection.ts';

/** Idle connections by origin. A pooled socket keeps the address it was vetted for. */
export interface ConnectionPool {
  /** Takes the idle connection of an origin that was used last, or null. */
  take(origin: string): Connection | null;
  /** Gives back a connection whose response was read to the end, to be used again within this many milliseconds. */
  give(origin: string, connection: Connection, reusableMs: number): void;
  close(): void;
}

interface Idle {
  readonly connection: Connection;
  readonly since: number;
  readonly until: number;
}

/** As many as may be in flight: one that could not wait here would be dialed anew for the next request. */
const MAX_IDLE = 2_000;
/** So that a receiver that moves to another address is followed there under constant traffic too. */
const MAX_AGE_MS = 60_000;
/** How often connections that idled too long are looked for; one that is taken is looked at anyway. */
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

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
  readonly origin: string;
  readonly connection: Connection;
  readonly since: number;
  readonly until: number;
}

/** As many as may be in flight. The one that has idled longest makes place for the next one, whoever it belongs to. */
const MAX_IDLE = 2_000;
/** So that a receiver that moves to another address is followed even under constant traffic. */
const MAX_AGE_MS = 60_000;
/** How often idle connections are swept; one that is taken is checked anyway. */
const SWEEP_MS = 1_000;

/** @param maxIdle idle connections kept */
export function createConnectionPool(maxIdle = MAX_IDLE): ConnectionPool {
  /** Each in the order in which they began to idle. */
  const origins = new Map<string, Idle[]>();
  const all = new Set<Idle>();
  let closed = false;
  let sweeper: NodeJS.Timeout | undefined;

  const isUsable = ({ connection, until }: Idle): boolean => performance.now() < until && connection.isOpen();

  const drop = (entry: Idle): void => {
    all.delete(entry);
    entry.connection.close();
    const others = origins.get(entry.origin)?.filter((other) => other !== entry) ?? [];
    if (others.length === 0) origins.delete(entry.origin);
    else origins.set(entry.origin, others);
  };

  const sweep = (): void => {
    for (const [origin, idle] of origins) {
      const usable = idle.filter((entry) => {
        if (isUsable(entry)) return true;
        all.delete(entry);
        entry.connection.close();
        return false;
      });
      if (usable.length === 0) origins.delete(origin);
      else origins.set(origin, usable);
    }
    if (all.size > 0) return;
    clearInterval(sweeper);
    sweeper = undefined;
  };

  return {
    take(origin) {
      const idle = origins.get(origin);
      for (let entry = idle?.pop(); entry !== undefined; entry = idle?.pop()) {
        all.delete(entry);
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
      const since = performance.now();
      const until = Math.min(since + reusableMs, connection.openedAt + MAX_AGE_MS);
      const entry = { origin, connection, since, until };
      if (closed || !isUsable(entry)) return connection.close();
      const [oldest] = all;
      if (oldest !== undefined && all.size >= maxIdle) drop(oldest);
      const idle = origins.get(origin) ?? [];
      origins.set(origin, idle);
      idle.push(entry);
      all.add(entry);
      connection.socket.unref();
      sweeper ??= setInterval(sweep, SWEEP_MS).unref();
    },
    close() {
      closed = true;
      clearInterval(sweeper);
      for (const { connection } of all) connection.close();
      origins.clear();
      all.clear();
    },
  };
}

import type { Connection } from './connection.ts';

/** Idle connections by origin. A pooled socket keeps the address it was vetted for. */
export interface ConnectionPool {
  /** Takes the idle connection of an origin that was used last, or null. */
  take(origin: string): Connection | null;
  /** Gives back a connection whose answer was read to the end. */
  give(origin: string, connection: Connection): void;
  close(): void;
}

const MAX_IDLE_PER_ORIGIN = 32;
const MAX_IDLE = 1_024;
/** So that a receiver that moves to another address is followed there under constant traffic too. */
const MAX_AGE_MS = 60_000;

export function createConnectionPool(): ConnectionPool {
  const idle = new Map<string, Set<Connection>>();
  const watched = new WeakSet<Connection>();
  let size = 0;
  let closed = false;

  const remove = (origin: string, connection: Connection): void => {
    const connections = idle.get(origin);
    if (connections?.delete(connection) !== true) return;
    size -= 1;
    if (connections.size === 0) idle.delete(origin);
  };

  return {
    take(origin) {
      const newestFirst = [...(idle.get(origin) ?? [])].reverse();
      for (const connection of newestFirst) {
        remove(origin, connection);
        if (connection.isOpen() && performance.now() - connection.openedAt < MAX_AGE_MS) return connection;
        connection.close();
      }
      return null;
    },
    give(origin, connection) {
      const connections = idle.get(origin) ?? new Set<Connection>();
      const isFull = size >= MAX_IDLE || connections.size >= MAX_IDLE_PER_ORIGIN;
      if (closed || isFull || !connection.isOpen()) return connection.close();
      idle.set(origin, connections.add(connection));
      size += 1;
      if (watched.has(connection)) return;
      watched.add(connection);
      connection.socket.once('close', () => remove(origin, connection));
    },
    close() {
      closed = true;
      for (const connections of [...idle.values()]) {
        for (const connection of [...connections]) connection.close();
      }
      idle.clear();
      size = 0;
    },
  };
}

import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { UNAVAILABLE_CAUSES } from '../errors.ts';
import type { Observation } from '../http/exchange.ts';
import type { Rooms } from '../http/rooms.ts';
import type { Room } from '../room.ts';
import { createProcessMetrics } from './process.ts';

/** The HTTP metrics for Prometheus. */
export interface HttpMetrics {
  readonly registry: Registry;
  /** Counts one response: for `HttpDependencies.observe`. */
  readonly observe: (observation: Observation) => void;
}

/**
 * A registry with the process's metrics, the time of every response by route, method and status, and the waiting
 * requests.
 * @param waiting how many wait for a connection of the database
 * @param turnsAwaited how many wait for a turn on the event loop
 * @param rooms the memory of requests
 */
export function createHttpMetrics(
  waiting: () => number,
  turnsAwaited: () => number,
  rooms: Rooms,
): HttpMetrics {
  const registry = createProcessMetrics();
  const ofRooms = (name: string, help: string, read: (room: Room) => number): void => {
    new Gauge({
      name,
      help,
      labelNames: ['room'] as const,
      registers: [registry],
      collect() {
        for (const room of ['workspaces', 'strangers'] as const) this.set({ room }, read(rooms[room]));
      },
    });
  };
  ofRooms('http_room_bytes', 'Memory that requests hold for bodies, work and responses.', (room) =>
    room.held(),
  );
  ofRooms('http_room_waiters', 'Requests that wait for memory.', (room) => room.waiting());
  new Gauge({
    name: 'database_connection_waiters',
    help: "Requests waiting for a connection from their workspace's share.",
    registers: [registry],
    collect() {
      this.set(waiting());
    },
  });
  new Gauge({
    name: 'event_loop_turn_waiters',
    help: "Requests and pieces of work waiting for their workspace's turn on the event loop.",
    registers: [registry],
    collect() {
      this.set(turnsAwaited());
    },
  });
  const duration = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Response time, by route, method and status.',
    labelNames: ['route', 'method', 'status'] as const,
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60],
    registers: [registry],
  });
  const unavailable = new Counter({
    name: 'http_unavailable_total',
    help: 'Requests refused with 503, by what was short.',
    labelNames: ['cause'] as const,
    registers: [registry],
  });
  for (const cause of UNAVAILABLE_CAUSES) unavailable.inc({ cause }, 0);
  const observers = new Map<string, (seconds: number) => void>();
  const observerOf = (route: string, method: string, status: number): ((seconds: number) => void) => {
    const name = `${method} ${status} ${route}`;
    const known = observers.get(name);
    if (known !== undefined) return known;
    const labelled = duration.labels({ route, method, status });
    const observer = (seconds: number): void => labelled.observe(seconds);
    observers.set(name, observer);
    return observer;
  };
  return {
    registry,
    observe: ({ route, method, status, seconds, unavailable: cause }) => {
      observerOf(route, KNOWN_METHODS.has(method) ? method : 'other', status)(seconds);
      if (cause !== undefined) unavailable.inc({ cause });
    },
  };
}

/** A client may send any method; labels must not grow with what clients send. */
const KNOWN_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

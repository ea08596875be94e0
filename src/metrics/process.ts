import { collectDefaultMetrics, Registry } from 'prom-client';

/** Milliseconds between two looks at the event loop's delay. */
const EVENT_LOOP_RESOLUTION_MS = 50;

/** A registry of its own with the process's figures: CPU, memory, garbage collection, event loop. */
export function createProcessMetrics(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: EVENT_LOOP_RESOLUTION_MS });
  return registry;
}

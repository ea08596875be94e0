import { getHeapStatistics } from 'node:v8';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { Readiness } from '../http/readiness.ts';

/** Milliseconds between two samples of the event loop's delay. */
const EVENT_LOOP_RESOLUTION_MS = 50;

/** Of the process there is one of each; what measures them never ends. */
let ofProcess: Registry | undefined;

function measureProcess(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: EVENT_LOOP_RESOLUTION_MS });
  new Gauge({
    name: 'nodejs_heap_size_limit_bytes',
    help: 'The heap at which Node gives up.',
    registers: [registry],
    collect() {
      this.set(getHeapStatistics().heap_size_limit);
    },
  });
  return registry;
}

/** A registry with the process's metrics: CPU, memory, garbage collection, event loop. */
export function createProcessMetrics(): Registry {
  ofProcess ??= measureProcess();
  return Registry.merge([ofProcess]);
}

/** Registers `dependency_available`, read whenever the registry is. */
export function createDependencyMetrics(registry: Registry, readiness: () => Promise<Readiness>): void {
  new Gauge({
    name: 'dependency_available',
    help: 'Whether each dependency of this process responds: 1 or 0.',
    labelNames: ['dependency'] as const,
    registers: [registry],
    async collect() {
      for (const [dependency, state] of Object.entries((await readiness()).checks)) {
        this.set({ dependency }, state === 'ok' ? 1 : 0);
      }
    },
  });
}

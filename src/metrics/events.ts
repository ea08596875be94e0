import { Counter, Histogram, type Registry } from 'prom-client';
import type { Round } from '../events/log/number-events.ts';

export interface EventMetrics {
  /** A round of the sequencer has ended. */
  readonly eventsNumbered: (round: Round) => void;
}

/** The figures of a worker's sequencer. */
export function createEventMetrics(registry: Registry): EventMetrics {
  const numbered = new Counter({
    name: 'events_numbered_total',
    help: 'Events that this worker has added to the logs of workspaces.',
    registers: [registry],
  });
  const lag = new Histogram({
    name: 'event_log_lag_seconds',
    help: 'From the storing of an event to its number in the log: the oldest one of each round.',
    buckets: [0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30, 300],
    registers: [registry],
  });
  return {
    eventsNumbered(round) {
      if (round.events === 0) return;
      numbered.inc(round.events);
      lag.observe(round.lag);
    },
  };
}

import { Gauge, type Registry } from 'prom-client';

/** What reconcile brings to its end in each round. */
export const ROUNDS = ['jobs', 'operations', 'holds', 'deliveries', 'endpoints', 'workspaces'] as const;
export type Round = (typeof ROUNDS)[number];

/** Notes the end of a round of reconcile in this process. */
export type RoundEnded = (round: Round) => void;

/** Registers when each round of reconcile last came to its end here; the youngest of all workers counts. */
export function createReconcileMetrics(registry: Registry): RoundEnded {
  const ended = new Gauge({
    name: 'reconcile_last_success_timestamp_seconds',
    help: 'When a round of reconcile last came to its end in this worker, as Unix time.',
    labelNames: ['round'] as const,
    registers: [registry],
  });
  return (round) => ended.set({ round }, Date.now() / 1_000);
}

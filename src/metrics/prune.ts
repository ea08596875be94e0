import { Counter, type Registry } from 'prom-client';

/** What prune removes, a step each. */
export const PRUNE_STEPS = [
  'events',
  'working_data',
  'ai_operations',
  'audit_entries',
  'images',
  'revisions',
] as const;
export type PruneStep = (typeof PRUNE_STEPS)[number];

/** Counts a try of a step by how it ends. */
export type CountPrune = <Result>(step: PruneStep, work: Promise<Result>) => Promise<Result>;

/** Counts the tries of prune's steps in this process. A step that fails is tried again for three hours. */
export function createPruneMetrics(registry: Registry): CountPrune {
  const tries = new Counter({
    name: 'prune_steps_total',
    help: 'Tries of the steps of prune, by step and outcome.',
    labelNames: ['step', 'outcome'] as const,
    registers: [registry],
  });
  for (const step of PRUNE_STEPS) {
    for (const outcome of ['done', 'failed']) tries.inc({ step, outcome }, 0);
  }
  return async (step, work) => {
    let outcome = 'failed';
    try {
      const result = await work;
      outcome = 'done';
      return result;
    } finally {
      tries.inc({ step, outcome });
    }
  };
}

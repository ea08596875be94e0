import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The files that take longer than ten seconds, the longest first. Those whose tests run beside each other need more of
 * the machine at a time, and stand between others.
 */
const LONG = [
  'local/engines',
  'backup/restore',
  'docs/tour',
  'translations/engines',
  'faults/generation-calls',
  'faults/generation-research',
  'workspaces/suspended',
  'faults/regenerate',
  'jobs/failed-work',
  'faults/generation',
  'processes/signals',
  'tracing/start',
  'faults/generation-steps',
  'faults/translation',
  'webhooks/relay/outages',
  'generation/claims-table',
  'local/stack',
  'generation/image-failures',
  'webhooks/relay/run-faults',
  'reconcile/rounds',
  'faults/silent-postgres',
  'webhooks/pace/pace',
  'document/first-translation',
  'webhooks/relay/burst-faults',
  'generation/attempts',
  'local/start',
  'deployment/shutdown',
  'blobs/collect',
  'generation/lifecycle',
  'generation/research',
  'suggestions/kills',
  'faults/refresh',
  'local/engine-kills',
  'articles/waiting',
  'cli/generate',
  'local/temporal-fetch',
  'translations/memory',
  'suggestions/faults',
  'cli/admin',
  'replay/replay',
  'translations/quality',
  'db/upgrade',
  'db/partitions',
  'faults/silent-connection',
  'db/migrations',
  'categories/races',
  'metrics/worker',
  'translations/endings',
  'threads/threads',
];

/** Lets no long file begin when the others are nearly done: it would have the machine to itself for a minute. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const place = LONG.findIndex((file) => moduleId.endsWith(`/test/${file}.test.ts`));
      return place === -1 ? LONG.length : place;
    };
    return (await super.sort(files)).sort((one, other) => rank(one) - rank(other));
  }
}

import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The files that take longer than ten seconds, the longest first. Those whose tests run beside each other need more of
 * the machine at a time, and stand between others.
 */
const LONG = [
  'local/engines',
  'docs/tour',
  'faults/generation',
  'translations/engines',
  'webhooks/relay/outages',
  'backup/restore',
  'processes/signals',
  'local/start',
  'faults/translation',
  'local/stack',
  'suggestions/kills',
  'generation/lifecycle',
  'webhooks/relay/burst-faults',
  'faults/refresh',
  'webhooks/relay/run-faults',
  'articles/waiting',
  'faults/silent-postgres',
  'local/engine-kills',
  'blobs/collect',
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

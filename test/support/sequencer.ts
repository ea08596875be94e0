import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The files that take longer than ten seconds, the longest first. */
const LONG = [
  'local/engines',
  'local/start',
  'faults/generation',
  'webhooks/relay/outages',
  'backup/restore',
  'faults/translation',
  'processes/signals',
  'docs/tour',
  'translations/engines',
  'local/engine-kills',
  'local/temporal-fetch',
  'local/stack',
  'faults/refresh',
  'suggestions/kills',
  'webhooks/relay/burst-faults',
  'webhooks/relay/run-faults',
  'articles/waiting',
  'faults/silent-postgres',
  'generation/lifecycle',
  'suggestions/faults',
  'blobs/collect',
  'cli/generate',
  'cli/admin',
  'db/partitions',
  'replay/replay',
  'translations/memory',
  'db/upgrade',
  'translations/quality',
  'db/migrations',
  'faults/silent-connection',
  'categories/races',
  'metrics/worker',
  'translations/endings',
  'document/threads',
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

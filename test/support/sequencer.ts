import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The files that take longer than ten seconds, the longest first. */
const LONG = [
  'local/engines',
  'suggestions/faults',
  'webhooks/relay/burst-faults',
  'backup/restore',
  'faults/silent-postgres',
  'webhooks/relay/outages',
  'processes/signals',
  'faults/translation',
  'webhooks/relay/run-faults',
  'articles/waiting',
  'faults/silent-connection',
  'translations/engines',
  'local/temporal-fetch',
  'local/stack',
  'local/engine-kills',
  'local/start',
  'webhooks/relay/bursts',
  'cli/admin',
  'db/partitions',
  'document/markdown-import',
  'blobs/collect',
  'docs/tour',
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

import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The files that take long and keep the machine busy, the longest first. */
const BUSY = [
  'generation/claims-table',
  'generation/image-failures',
  'translations/engines',
  'faults/generation-calls',
  'reconcile/rounds',
  'tracing/start',
  'threads/threads',
  'generation/research',
  'cli/admin',
  'generation/take-over',
  'jobs/shares',
  'cli/operators',
  'local/start',
  'generation/finish',
  'translations/memory',
  'generation/calls',
  'tracing/traces',
  'local/engine-kills',
  'local/stack',
  'document/first-translation',
  'translations/report',
  'document/checks/figures',
  'translations/refresh',
  'generation/careless',
  'translations/quality',
  'blobs/store',
  'media/uploads',
  'providers/pseudo-images',
  'translations/memory-entries',
  'categories/races',
  'assets/regenerate',
  'articles/linking',
  'translations/style-sheet-routes',
  'translations/endings',
  'http/hostile-requests',
  'webhooks/relay/turns',
  'translations/editors-day',
  'suggestions/kills',
  'local/temporal-fetch',
  'cli/generate',
  'jobs/engine-shares',
  'metrics/worker',
  'http/rooms',
  'translations/links',
  'translations/largest',
];

/** Those that take long and mostly wait, for a timeout, a retry or a process that starts; the longest first. */
const WAITING = [
  'backup/restore',
  'webhooks/relay/burst-faults',
  'local/engines',
  'webhooks/relay/run-faults',
  'workspaces/suspended',
  'generation/attempts',
  'faults/regenerate',
  'faults/generation-research',
  'faults/generation-steps',
  'jobs/failed-work',
  'faults/translation',
  'webhooks/pace/pace',
  'blobs/s3-failures',
  'webhooks/relay/outages',
  'faults/generation',
  'processes/signals',
  'deployment/shutdown',
  'generation/fields',
  'generation/lifecycle',
  'faults/silent-postgres',
  'generation/images',
  'generation/planned',
  'suggestions/faults',
  'generation/delivery',
  'assets/assets',
  'faults/refresh',
  'faults/generation-images',
  'generation/research-cancel',
  'translations/one-voice',
  'docs/tour',
  'db/partitions',
  'events/pull',
  'http/readiness',
  'faults/silent-connection',
];

/** How many of the other files begin after each that waits: as many as keep the machine busy meanwhile. */
const BETWEEN = 2;

/** Where a list has a file; its end for one that it has not. */
function rank(names: readonly string[], { moduleId }: TestSpecification): number {
  const place = names.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
  return place === -1 ? names.length : place;
}
const inOrder = (names: readonly string[], files: readonly TestSpecification[]) =>
  files.toSorted((one, other) => rank(names, one) - rank(names, other));
const waits = (file: TestSpecification): boolean => rank(WAITING, file) < WAITING.length;

/**
 * Lets no long file begin when the others are nearly done, for it would have the machine to itself for a minute, and
 * lets those that wait do so beside others that work.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const waiting = inOrder(WAITING, sorted.filter(waits));
    const working = inOrder(
      BUSY,
      sorted.filter((file) => !waits(file)),
    );
    return [
      ...waiting.flatMap((file, at) => [file, ...working.slice(BETWEEN * at, BETWEEN * (at + 1))]),
      ...working.slice(BETWEEN * waiting.length),
    ];
  }
}

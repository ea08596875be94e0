/**
 * Threads for what strangers sent: a page can hold a parser for minutes, so its thread is ended after two seconds.
 * They are apart from those of documents, which no page may keep waiting.
 */
import { createFairQueue } from '../../fair-queue.ts';
import { ProviderError } from '../../providers/types.ts';
import { createTrackedThreads } from '../../threads/tracked-threads.ts';
import type { Extracted } from './extract.ts';
import type { PageRefusal } from './page.ts';
import type { Posted } from './thread.ts';

const THREADS = 2;
const PARSE_MS = 2_000;
/** To load the parsers into a new thread, on a busy machine. */
const START_MS = 20_000;
const WAIT_MS = 60_000;
const IDLE_MS = 60_000;
/** The tree of one MiB of tags takes 90 MiB. */
const OLD_HEAP_MB = 192;
const YOUNG_HEAP_MB = 16;

/** What is done with texts of strangers; null for what took too long or broke its thread. */
export interface HostileThreads {
  extract(
    owner: string,
    html: string,
    host: string,
  ): Promise<Extracted | { readonly refusal: PageRefusal } | null>;
  /** Whether the rules of a robots.txt allow a URL. */
  allows(owner: string, robots: { url: string; rules: string }, url: string): Promise<boolean | null>;
  close(): Promise<void>;
}

/** Starts threads on demand; they end when idle. A workspace has one of them at a time (contract.md N38). */
export function createHostileThreads({ parseMs = PARSE_MS } = {}): HostileThreads {
  const queue = createFairQueue({
    total: THREADS,
    perOwner: 1,
    maxWaiting: 64,
    refusal: () => new ProviderError('retryable', 'Too many pages are being read.'),
  });
  const threads = createTrackedThreads<Posted, unknown>({
    file: new URL('./thread.ts', import.meta.url),
    threads: THREADS,
    idleMs: IDLE_MS,
    oldHeapMb: OLD_HEAP_MB,
    youngHeapMb: YOUNG_HEAP_MB,
    nice: 10,
  });
  const run = (posted: Posted, timeoutMs: number): Promise<unknown> =>
    threads.run(posted, AbortSignal.timeout(timeoutMs));

  const doFor = async (owner: string, posted: Posted): Promise<unknown> => {
    const release = await queue.take(owner, { waitMs: WAIT_MS });
    try {
      // The clock runs from when the thread has its parsers.
      await run({ task: 'start' }, START_MS);
      // Whatever ends a thread (time, memory, a bug in a parser) is the page's doing.
      return await run(posted, parseMs).catch(() => null);
    } finally {
      release();
    }
  };

  return {
    extract: async (owner, html, host) =>
      (await doFor(owner, { task: 'extract', html, host })) as Extracted | { refusal: PageRefusal } | null,
    allows: async (owner, { url: robotsUrl, rules }, url) =>
      (await doFor(owner, { task: 'robots', robotsUrl, rules, url })) as boolean | null,
    close: threads.close,
  };
}

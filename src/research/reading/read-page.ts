import { createHash } from 'node:crypto';
import { startDeadline } from '../../outbound/deadline.ts';
import type { AddressGuard } from '../../outbound/resolver.ts';
import { decodePage } from './charset.ts';
import { getFollowing, type Head, pageUrl, Refused } from './get.ts';
import type { Page, ReadOutcome, ReadPage } from './page.ts';
import { createRobots } from './robots.ts';
import type { HostileThreads } from './threads.ts';

const MAX_BYTES = 1024 * 1024;
const TIMEOUT_MS = 5_000;
const MAX_REDIRECTS = 3;
const HTML = /^\s*(?:text\/html|application\/xhtml\+xml)\s*(?:;|$)/i;

/** Pages that this process serves itself: they need no allowed network. */
export interface OwnPages {
  owns(url: URL): boolean;
  /** Allows the loopback only. */
  readonly guard: AddressGuard;
}

export interface ReadPageOptions {
  readonly guard: AddressGuard;
  readonly threads: HostileThreads;
  readonly ownPages?: OwnPages | null;
  /** Milliseconds for all requests of a page, those for robots.txt apart, which have as long each. */
  readonly timeoutMs?: number;
  readonly now?: () => Date;
}

/** Whether the body is a page that may be read. @throws {Refused} */
function wants({ status, headers }: Head): boolean {
  if (status !== 200) throw new Refused('error status');
  if (!HTML.test(headers['content-type'] ?? '')) throw new Refused('not HTML');
  if (!/^\s*(?:identity)?\s*$/i.test(headers['content-encoding'] ?? ''))
    throw new Refused('unknown encoding');
  return true;
}

/**
 * Creates the reader of pages (contract.md N5, N6 and N7). It dials only what the guard allows, asks for each address whether the
 * site's robots.txt does, and reads at most 1 MiB of HTML within 5 seconds.
 */
export function createPageReader({
  guard,
  threads,
  ownPages = null,
  timeoutMs = TIMEOUT_MS,
  now = () => new Date(),
}: ReadPageOptions): ReadPage {
  const guardOf = (url: URL): AddressGuard => (ownPages?.owns(url) === true ? ownPages.guard : guard);
  const robots = createRobots({ guardOf, threads, timeoutMs });

  const read = async (text: string, owner: string, signal: AbortSignal): Promise<Page> => {
    const deadline = startDeadline(timeoutMs, signal);
    try {
      const { url, headers, body } = await getFollowing(pageUrl(text), {
        guardOf,
        deadline,
        accept: 'text/html, application/xhtml+xml',
        maxBytes: MAX_BYTES,
        beyond: 'refuse',
        wants,
        maxRedirects: MAX_REDIRECTS,
        before: (next) => deadline.raceUncounted(robots.check(owner, next, signal)),
      });
      const html = decodePage(body, headers['content-type'] ?? '');
      if (html === null) throw new Refused('unknown encoding');
      const extracted = await threads.extract(owner, html, url.hostname);
      signal.throwIfAborted();
      if (extracted === null) throw new Refused('could not be parsed');
      if ('refusal' in extracted) throw new Refused(extracted.refusal);
      const { title, site, publishedAt } = extracted;
      return {
        url: url.href,
        title,
        site,
        publishedAt: publishedAt === null ? null : new Date(publishedAt),
        text: extracted.text,
        hash: createHash('sha256').update(extracted.text).digest('hex'),
        fetchedAt: now(),
      };
    } finally {
      deadline.clear();
    }
  };

  return async (url, { workspaceId, signal }): Promise<ReadOutcome> => {
    try {
      return { ok: true, page: await read(url, workspaceId, signal) };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof Refused) return { ok: false, url, refusal: error.refusal };
      throw error;
    }
  };
}

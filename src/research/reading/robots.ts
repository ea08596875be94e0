/** What sites forbid programs to read: robots.txt (RFC 9309). */
import { type Deadline, startDeadline } from '../../outbound/deadline.ts';
import { type GetOptions, getFollowing, pageUrl, Refused } from './get.ts';
import type { HostileThreads } from './threads.ts';

const TIMEOUT_MS = 5_000;
/** As much of a file as has to be read. */
const MAX_BYTES = 500 * 1024;
const MAX_REDIRECTS = 5;
/** How long rules are kept, and how long it is that a site had none to give. */
const KEPT_MS = 24 * 3_600_000;
const KEPT_AFTER_FAILURE_MS = 10 * 60_000;
/** Sites remembered, and characters of all their rules. */
const MAX_SITES = 500;
const MAX_CHARACTERS = 8 * 1024 * 1024;

/** A site's rules; none where it gave an error that forbids all, or could not be asked. */
interface Remembered {
  readonly rules: string | null;
  readonly until: number;
}

export interface Robots {
  /** Passes when the site allows the URL (contract.md N5). @throws {Refused}; the signal's reason */
  check(owner: string, url: URL, signal: AbortSignal): Promise<void>;
  /** Sites in memory. */
  size(): number;
}

export function createRobots({
  guardOf,
  threads,
  timeoutMs = TIMEOUT_MS,
  now = () => performance.now(),
}: Pick<GetOptions, 'guardOf'> & {
  readonly threads: Pick<HostileThreads, 'allows'>;
  readonly timeoutMs?: number;
  readonly now?: () => number;
}): Robots {
  /** In the order in which they were asked. */
  const sites = new Map<string, Remembered>();
  let characters = 0;

  const forget = (origin: string): void => {
    characters -= sites.get(origin)?.rules?.length ?? 0;
    sites.delete(origin);
  };
  const remember = (origin: string, rules: string | null): Remembered => {
    forget(origin);
    const kept = { rules, until: now() + (rules === null ? KEPT_AFTER_FAILURE_MS : KEPT_MS) };
    sites.set(origin, kept);
    characters += rules?.length ?? 0;
    for (const [oldest] of sites) {
      if (sites.size <= MAX_SITES && characters <= MAX_CHARACTERS) break;
      forget(oldest);
    }
    return kept;
  };

  const fetchRules = async (url: URL, deadline: Deadline): Promise<string | null> => {
    try {
      const { status, body } = await getFollowing(url, {
        guardOf,
        deadline,
        accept: 'text/plain',
        maxBytes: MAX_BYTES,
        beyond: 'cut',
        wants: (head) => head.status >= 200 && head.status <= 299,
        maxRedirects: MAX_REDIRECTS,
      });
      if (status >= 200 && status <= 299) return new TextDecoder().decode(body);
      // No file, no rules.
      return status >= 400 && status <= 499 ? '' : null;
    } catch (error) {
      // A private address is no site at all.
      if (!(error instanceof Refused) || error.refusal === 'not a public address') throw error;
      return error.refusal === 'too many redirects' ? '' : null;
    }
  };

  return {
    async check(owner, url, signal) {
      const robotsUrl = pageUrl(new URL('/robots.txt', url).href);
      const known = sites.get(url.origin);
      const deadline = startDeadline(timeoutMs, signal);
      try {
        const { rules } =
          known !== undefined && known.until > now()
            ? known
            : remember(url.origin, await fetchRules(robotsUrl, deadline));
        signal.throwIfAborted();
        if (rules === null) throw new Refused('robots.txt unavailable');
        if (rules === '') return;
        const isAllowed = await threads.allows(owner, { url: robotsUrl.href, rules }, url.href);
        if (isAllowed === null) throw new Refused('robots.txt unavailable');
        if (!isAllowed) throw new Refused('forbidden by robots.txt');
      } finally {
        deadline.clear();
      }
    },
    size: () => sites.size,
  };
}

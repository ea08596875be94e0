/** Which of the pages that searches found are read. */
import { parseReceiverUrl } from '../../outbound/address-guard.ts';
import type { ResearchBounds } from '../limits.ts';

/** Why a page that was found is not read. */
export type NotChosen = 'invalid address' | 'read already' | 'enough of this site' | 'enough pages';

export interface ChosenPages {
  /** Addresses to read, in the order of the searches. */
  readonly chosen: readonly string[];
  readonly left: readonly { readonly url: string; readonly reason: NotChosen }[];
}

/** A site is its host without `www.`. */
const siteOf = (url: URL): string => url.hostname.replace(/^www\./, '');

/** An address as it is read: checked, without its fragment; null when it is none. */
function pageAddress(text: string): URL | null {
  const verdict = parseReceiverUrl(text);
  if (!verdict.ok) return null;
  verdict.url.hash = '';
  return verdict.url;
}

/**
 * Chooses the next pages (contract.md N4).
 * @param found addresses of search results, best first; of several searches, the first of each before the second of any
 * @param tried addresses of this run that were read or refused before: they count, also after a restart
 */
export function choosePages(
  found: readonly string[],
  tried: readonly string[],
  { pages, pagesOfSite }: Pick<ResearchBounds, 'pages' | 'pagesOfSite'>,
): ChosenPages {
  const seen = new Set<string>();
  const ofSite = new Map<string, number>();
  const count = (url: URL): void => {
    seen.add(url.href);
    ofSite.set(siteOf(url), (ofSite.get(siteOf(url)) ?? 0) + 1);
  };
  for (const text of tried) {
    const url = pageAddress(text);
    if (url !== null) count(url);
  }
  const chosen: string[] = [];
  const left: { url: string; reason: NotChosen }[] = [];
  for (const text of found) {
    const url = pageAddress(text);
    const reason = ((): NotChosen | null => {
      if (url === null) return 'invalid address';
      if (seen.has(url.href)) return 'read already';
      if (tried.length + chosen.length >= pages) return 'enough pages';
      return (ofSite.get(siteOf(url)) ?? 0) >= pagesOfSite ? 'enough of this site' : null;
    })();
    if (url === null || reason !== null) {
      left.push({ url: text, reason: reason ?? 'invalid address' });
      continue;
    }
    count(url);
    chosen.push(url.href);
  }
  return { chosen, left };
}

/** The results of several searches in one order: the first of each, then the second of each. */
export function interleaved<Item>(lists: readonly (readonly Item[])[]): Item[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, at) => lists.flatMap((list) => list.slice(at, at + 1))).flat();
}

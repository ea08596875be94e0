/** Web research as it is configured. */
import { type Config, searchProviderOf } from '../config.ts';
import { createAddressGuard } from '../outbound/resolver.ts';
import type { ReadPage } from './reading/page.ts';
import { createPageReader } from './reading/read-page.ts';
import { createHostileThreads } from './reading/threads.ts';
import { createSearxng } from './search/searxng.ts';
import { type Search, searchInTurns } from './search/turns.ts';

/** The ports of research. */
export interface Research {
  readonly search: Search;
  readonly readPage: ReadPage;
  /** Ends threads and the server of pages. */
  close(): Promise<void>;
}

/**
 * Searches and reads as configured; null where neither research nor fact checking is on (contract.md N1). Loads the
 * service's own pages only where they are searched.
 */
export async function createResearch(config: Config): Promise<Research | null> {
  if (!config.WEB_RESEARCH && !config.FACT_CHECKING) return null;
  const guard = createAddressGuard({ allowedNetworks: config.RESEARCH_ALLOWED_NETWORKS });
  const threads = createHostileThreads();
  const { SEARCH_BASE_URL: baseUrl } = config;
  if (searchProviderOf(config) === 'searxng' && baseUrl !== undefined) {
    return {
      search: searchInTurns(createSearxng({ baseUrl })),
      readPage: createPageReader({ guard, threads }),
      close: threads.close,
    };
  }
  const { servePages } = await import('./search/pages.ts');
  const { createPseudoSearch } = await import('./search/pseudo.ts');
  const ownPages = await servePages();
  return {
    search: searchInTurns(createPseudoSearch(ownPages)),
    readPage: createPageReader({ guard, threads, ownPages }),
    async close() {
      await Promise.all([threads.close(), ownPages.close()]);
    },
  };
}

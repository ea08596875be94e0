/** Searches and reads for a run: whatever is stored is not done again (contract.md N21). */
import type { Database } from '../../db/database.ts';
import type { WorkspaceId } from '../../ids.ts';
import { ProviderError } from '../../providers/types.ts';
import type { Research } from '../../research/create.ts';
import type { ResearchBounds } from '../../research/limits.ts';
import { choosePages, interleaved } from '../../research/reading/choose-pages.ts';
import type { WritingTask } from '../write-part.ts';
import {
  beginPage,
  beginSearch,
  endSearch,
  type Gathered,
  MAX_TRIES,
  type PageRow,
  planPages,
  planSearches,
  readPageRows,
  readSearches,
  refusePage,
  storePage,
} from './rows.ts';

export interface ResearchDependencies {
  readonly db: Database;
  /** Null where neither research nor fact checking is on. */
  readonly research: Research | null;
  /** Called for each search that has ended. */
  readonly onSearch?: (outcome: 'answered' | 'failed') => void;
  /** Called for each page that was read, or with why it is not used. */
  readonly onPage?: (outcome: string) => void;
}

export interface Gathering extends Gathered, WritingTask {
  readonly workspaceId: WorkspaceId;
  readonly bounds: ResearchBounds;
  readonly queries: readonly string[];
  /** Addresses of sources that the article has: they are not read again. */
  readonly known: readonly string[];
}

/** Pages that are read at once. */
const PAGES_AT_ONCE = 4;

/**
 * Searches and reads within the bounds of a run. What fails is left out.
 * @throws {ProviderError} while no search has responded and some may be made again; the signal's reason
 */
export async function gather(dependencies: ResearchDependencies, gathering: Gathering): Promise<void> {
  const { db } = dependencies;
  const { bounds, queries, persist } = gathering;
  await persist(() => planSearches(db, gathering, queries.slice(0, bounds.searches)));
  const away = await search(dependencies, gathering);
  const searches = await persist(() => readSearches(db, gathering));
  if (away !== null && searches.every(({ found }) => found === null)) {
    if (searches.some(({ tries }) => tries < MAX_TRIES)) throw away;
    return;
  }
  const pages = await persist(() => readPageRows(db, gathering));
  const found = interleaved(searches.map((each) => each.found ?? []));
  const { chosen } = choosePages(
    found.filter((address) => !gathering.known.includes(address)),
    pages.map(({ address }) => address),
    bounds,
  );
  if (chosen.length > 0) await persist(() => planPages(db, gathering, chosen, pages.at(-1)?.number ?? 0));
  await readAll(dependencies, gathering);
}

/** Makes the searches that have no response. @returns why the last one failed; null when none did */
async function search(
  { db, research, onSearch }: ResearchDependencies,
  gathering: Gathering,
): Promise<ProviderError | null> {
  if (research === null) return null;
  const { workspaceId, signal, persist } = gathering;
  let away: ProviderError | null = null;
  for (const { number, query, found } of await persist(() => readSearches(db, gathering))) {
    if (found !== null || !(await persist(() => beginSearch(db, gathering, number)))) continue;
    try {
      const results = await research.search(query, { workspaceId, signal });
      await persist(() =>
        endSearch(
          db,
          gathering,
          number,
          results.map(({ url }) => url),
        ),
      );
      onSearch?.('answered');
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ProviderError)) throw error;
      onSearch?.('failed');
      away = error;
    }
  }
  return away;
}

/** Reads the pages that were not read, some at once. */
async function readAll(dependencies: ResearchDependencies, gathering: Gathering): Promise<void> {
  const { db } = dependencies;
  const open = (await gathering.persist(() => readPageRows(db, gathering))).filter(
    ({ hash, refusal }) => hash === null && refusal === null,
  );
  const lanes = Array.from({ length: PAGES_AT_ONCE }, async (): Promise<void> => {
    for (let page = open.shift(); page !== undefined; page = open.shift()) {
      await readOne(dependencies, gathering, page);
    }
  });
  // All of them end before an error is thrown: none goes on behind the activity.
  const ends = await Promise.allSettled(lanes);
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

async function readOne(
  { db, research, onPage }: ResearchDependencies,
  gathering: Gathering,
  { number, address }: PageRow,
): Promise<void> {
  const { workspaceId, signal, persist } = gathering;
  if (research === null) return;
  if (!(await persist(() => beginPage(db, gathering, number)))) {
    // Its tries are used up, by workers that were lost.
    await persist(() => refusePage(db, gathering, number, 'no response'));
    return;
  }
  const outcome = await research.readPage(address, { workspaceId, signal });
  onPage?.(outcome.ok ? 'read' : outcome.refusal);
  await persist(() =>
    outcome.ok
      ? storePage(db, gathering, number, outcome.page)
      : refusePage(db, gathering, number, outcome.refusal),
  );
}

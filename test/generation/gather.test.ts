import { beforeEach, expect, it } from 'vitest';
import type { SearchPurpose } from '../../src/db/tables/jobs.ts';
import { gather } from '../../src/generation/research/gather.ts';
import { readPageRows, readPages, readSearches } from '../../src/generation/research/rows.ts';
import type { JobId } from '../../src/ids.ts';
import { ProviderError } from '../../src/providers/types.ts';
import { CLAIM_BOUNDS, RESEARCH_BOUNDS, type ResearchBounds } from '../../src/research/limits.ts';
import { createStandInResearch, PAGES, resetResearch } from '../support/researching.ts';
import { useAdmission } from './support/admission.ts';

const { service, workspace, request } = useAdmission();
const web = createStandInResearch();
beforeEach(() => resetResearch(web));

const BOUNDS: Record<SearchPurpose, ResearchBounds> = { research: RESEARCH_BOUNDS, claims: CLAIM_BOUNDS };
const QUERIES = ['water for tomatoes', 'tomatoes in pots'];

/** What a run of a job that is open would gather, as often as it is called. */
async function gathering(queries = QUERIES, purpose: SearchPurpose = 'research') {
  const { job } = (await request()).body;
  const of = { jobId: job.id as JobId, purpose };
  const again = (research = web): Promise<void> =>
    gather(
      { db: service.db, research },
      {
        ...of,
        workspaceId: workspace.id,
        bounds: BOUNDS[purpose],
        queries,
        known: [],
        signal: new AbortController().signal,
        persist: (work) => work(),
      },
    );
  return { of, again };
}

// contract.md N21
it('searches and reads once, however often it begins anew', async () => {
  const { of, again } = await gathering();
  await again();
  await again();
  expect(web.searched).toEqual(QUERIES);
  expect(web.read.toSorted()).toEqual(PAGES.map(([url]) => url).toSorted());
  expect(await readPages(service.db, of.jobId)).toHaveLength(3);
});

// contract.md N21
it('goes on where a lost worker stopped, and requests nothing more than three times', async () => {
  const { of, again } = await gathering();
  const [[bad] = ['']] = PAGES;
  const losing = {
    ...web,
    readPage: (async (url, options) => {
      const outcome = await web.readPage(url, options);
      // As if the worker were gone before it could store the page.
      if (url === bad) throw new TypeError('lost');
      return outcome;
    }) satisfies typeof web.readPage,
  };
  for (let time = 1; time <= 3; time += 1) await expect(again(losing)).rejects.toThrow('lost');
  await again(losing);
  await again(losing);
  expect(web.searched).toEqual(QUERIES);
  expect(web.read.filter((url) => url === bad)).toHaveLength(3);
  expect(web.read).toHaveLength(5);
  const pages = await readPageRows(service.db, of);
  expect(pages.map(({ address, refusal }) => [address, refusal])).toContainEqual([bad, 'no response']);
  expect(await readPages(service.db, of.jobId)).toHaveLength(2);
});

// contract.md N21 and N22
it('asks a search engine that is away three times, then does without', async () => {
  const { of, again } = await gathering();
  web.away = true;
  await expect(again()).rejects.toThrow(ProviderError);
  await expect(again()).rejects.toThrow(ProviderError);
  await again();
  await again();
  expect(web.searched).toHaveLength(3 * QUERIES.length);
  expect((await readSearches(service.db, of)).map(({ found }) => found)).toEqual([null, null]);
  expect(web.read).toEqual([]);
});

// contract.md N4
it.each([
  ['twelve pages by fifteen searches for research', 'research', 15, 12],
  ['twenty pages by twenty searches for claims', 'claims', 20, 20],
] as const)(
  'reads at most %s, two of one site, however many are found',
  async (_, purpose, searches, most) => {
    web.pages = new Map(
      Array.from({ length: 60 }, (_, number) => [
        `https://site-${Math.floor(number / 4)}.example/${number}`,
        `Page ${number} says that it needs ${number} litres.`,
      ]),
    );
    const queries = Array.from({ length: 30 }, (_, number) => `query ${number}`);
    const { of, again } = await gathering(queries, purpose);
    await again();
    expect(web.searched).toHaveLength(searches);
    expect(web.read).toHaveLength(most);
    const sites = Map.groupBy(web.read, (url) => new URL(url).hostname);
    for (const [, urls] of sites) expect(urls.length).toBeLessThanOrEqual(2);
    await again();
    expect(web.read).toHaveLength(most);
    expect(await readPages(service.db, of.jobId)).toHaveLength(most);
  },
);

// contract.md N22
it('requests nothing for a job that has ended', async () => {
  const { of, again } = await gathering();
  const path = `/api/jobs/${of.jobId}/cancel`;
  expect((await service.call(workspace.key, 'POST', path)).status).toBe(202);
  await again();
  expect([web.searched, web.read]).toEqual([[], []]);
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSearxng } from '../../src/research/search/searxng.ts';
import { type SearchedSite, type Searx, startSearchedSite, startSearx } from './searx.ts';

const signal = new AbortController().signal;
let site: SearchedSite;
let searx: Searx;
beforeAll(async () => {
  site = await startSearchedSite();
  searx = await startSearx(site);
});
afterAll(async () => {
  await searx?.stop();
  await site?.close();
});

// contract.md N2
describe('a real searx', () => {
  it('gives what its engine found, in its order, with the query as it was', async () => {
    site.respond = () => ({
      status: 200,
      body: {
        results: [
          {
            url: 'http://garden.example/water?a=1&b=2',
            title: 'Water & roots',
            content: 'In the <b>morning</b>.',
          },
          { url: 'https://garden.example/mulch', title: 'Mulch', content: '' },
        ],
      },
    });
    const results = await createSearxng({ baseUrl: searx.url }).search('käse & "brot" 100 %', signal);
    expect(site.queries.at(-1)).toBe('käse & "brot" 100 %');
    expect(results).toEqual([
      {
        url: 'http://garden.example/water?a=1&b=2',
        title: 'Water & roots',
        snippet: 'In the morning.',
        publishedAt: null,
      },
      { url: 'https://garden.example/mulch', title: 'Mulch', snippet: '', publishedAt: null },
    ]);
  });

  it('finds nothing where its engine finds nothing', async () => {
    site.respond = () => ({ status: 200, body: { results: [] } });
    expect(await createSearxng({ baseUrl: searx.url }).search('nothing', signal)).toEqual([]);
  });

  it('whose only engine fails is a failure', async () => {
    site.respond = () => ({ status: 500, body: {} });
    await expect(createSearxng({ baseUrl: searx.url }).search('away', signal)).rejects.toMatchObject({
      kind: 'retryable',
      message: 'None of the engines of the search server responded.',
    });
  });
});

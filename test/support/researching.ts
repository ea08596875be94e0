import { createHash } from 'node:crypto';
import { ProviderError } from '../../src/providers/types.ts';
import type { Research } from '../../src/research/create.ts';

/** A web of a test: which pages a search finds, and what each says. */
export interface StandInResearch extends Research {
  /** Texts by address, in the order in which every search finds them; `refused` is not used. */
  pages: Map<string, string>;
  /** The search engine does not respond. */
  away: boolean;
  /** What a search waits for, and a page. */
  waits: (signal: AbortSignal) => Promise<void>;
  waitsToRead: (signal: AbortSignal) => Promise<void>;
  /** What was searched and read since the test began. */
  searched: string[];
  read: string[];
}

/** Pages about tomatoes: three are enough for research to deliver. */
export const PAGES: readonly (readonly [string, string])[] = [
  [
    'https://one.example/water',
    'Tomatoes in open ground need about 20 litres of water a week in high summer.',
  ],
  ['https://two.example/pots', 'In a pot of 15 litres a tomato wants water every day in hot weather.'],
  ['https://three.example/rows', 'Space tomato plants 60 centimetres apart in the row for air between them.'],
];

export function createStandInResearch(): StandInResearch {
  const standIn: StandInResearch = {
    pages: new Map(PAGES),
    away: false,
    waits: async () => undefined,
    waitsToRead: async () => undefined,
    searched: [],
    read: [],
    async search(query, { signal }) {
      standIn.searched.push(query);
      await standIn.waits(signal);
      if (standIn.away) throw new ProviderError('retryable', 'The search server does not respond.');
      return [...standIn.pages.keys()].map((url) => ({ url, title: url, snippet: '', publishedAt: null }));
    },
    async readPage(url, { signal }) {
      standIn.read.push(url);
      await standIn.waitsToRead(signal);
      const text = standIn.pages.get(url);
      if (text === undefined || text === 'refused') return { ok: false, url, refusal: 'speaks to models' };
      const { hostname } = new URL(url);
      const hash = createHash('sha256').update(text).digest('hex');
      const about = { url, title: `About ${hostname}`, site: hostname, publishedAt: null };
      return { ok: true, page: { ...about, text, hash, fetchedAt: new Date() } };
    },
    close: async () => undefined,
  };
  return standIn;
}

/** The web as it was at first. */
export function resetResearch(standIn: StandInResearch): void {
  standIn.pages = new Map(PAGES);
  standIn.away = false;
  standIn.waits = async () => undefined;
  standIn.waitsToRead = async () => undefined;
  standIn.searched = [];
  standIn.read = [];
}

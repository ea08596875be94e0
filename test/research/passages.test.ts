import { beforeAll, describe, expect, it } from 'vitest';
import type { SourceId } from '../../src/ids.ts';
import { indexPassages, type PassageIndex } from '../../src/research/claims/passages.ts';
import type { SourceText } from '../../src/research/notes/note.ts';
import { extractPage } from '../../src/research/reading/extract.ts';
import { readFolder } from '../../src/research/search/pages.ts';
import { CLAIMS } from './claims.ts';

const bestPassages = async (
  claim: string,
  texts: readonly SourceText[],
  { language, most }: { language: string; most: number },
) => (await indexPassages(texts, language)).best(claim, most);
const source = (id: string, title: string, text: string): SourceText => ({ id: id as SourceId, title, text });

let sources: SourceText[];
let index: PassageIndex;
beforeAll(async () => {
  sources = readFolder().map(({ site, path, html }) => {
    const extracted = extractPage(html, `${site}.localhost`, new Date());
    if ('refusal' in extracted) throw new Error(`${site}${path}: ${extracted.refusal}`);
    return source(`${site}${path}`, extracted.title, extracted.text);
  });
  index = await indexPassages(sources, 'en');
});

// contract.md N12
describe('the passages for a claim', () => {
  it('are among the best three for nine of ten claims that have evidence in the folder', () => {
    const table = Object.groupBy(CLAIMS, ({ kind }) => kind);
    expect(Object.values(table).map((claims) => claims?.length)).toEqual([20, 20, 20]);
    const missed = CLAIMS.filter(({ claim, evidence }) => {
      const best = index.best(claim, 3);
      return (
        evidence.length > 0 &&
        !evidence.some(({ page, words }) =>
          best.some(({ sourceId, text }) => sourceId === page && text.includes(words)),
        )
      );
    }).map(({ claim }) => claim);
    expect(missed.length, missed.join('\n')).toBeLessThanOrEqual(4);
  });

  it('are on pages that are there, with the words of the table', () => {
    for (const { page, words } of CLAIMS.flatMap(({ evidence }) => evidence)) {
      expect(sources.find(({ id }) => id === page)?.text, page).toContain(words);
    }
  });

  it('show both sides where two pages contradict each other', () => {
    const pages = index.best('One degree less saves energy for heating.', 3).map(({ sourceId }) => sourceId);
    expect(pages).toEqual(expect.arrayContaining(['warm-house/thermostats', 'watt-watch/thermostat-test']));
  });

  it('stand word for word in their sources, however long a paragraph, a sentence or a word is', async () => {
    const sentence = 'The pump ran for 17 days without a stop and nobody noticed it. ';
    const texts = [
      sentence.repeat(40).trim(),
      `pump ${'and so on '.repeat(200)}`.trim(),
      `pump${'x'.repeat(2_000)} pump`,
    ];
    const long = source('long', 'Pumps', texts.join('\n\n'));
    const best = await bestPassages('The pump ran for 17 days.', [long], { language: 'en', most: 50 });
    expect(best.length).toBeGreaterThan(4);
    for (const { text, score } of best) {
      expect(long.text).toContain(text);
      expect(text.length).toBeLessThanOrEqual(600);
      expect(score).toBeGreaterThan(0);
    }
  });

  it('are found by a number however it is written, and by other forms of a word', async () => {
    const texts = [
      source('a', 'A', 'It costs 1.200 euros, and lasts for many winters, they say.'),
      source('b', 'B', 'It costs 1,300 euros, and lasts for many winters, they say.'),
      source('c', 'C', 'Three batteries were charging in the shed that evening in May.'),
    ];
    const first = async (claim: string) =>
      (await bestPassages(claim, texts, { language: 'en', most: 1 })).map(({ sourceId }) => sourceId);
    expect(await first('The price is 1300 euros')).toEqual(['b']);
    expect(await first('Charge 3 batteries')).toEqual(['c']);
    expect(await first('Zebras')).toEqual([]);
  });

  it('are found in languages without spaces', async () => {
    const texts = [
      source('ja', '紅茶', '紅茶は摂氏九十五度のお湯で三分間いれるのがよいとされています。'),
      source('ja2', '自転車', '自転車の鎖は五千キロメートルごとに交換する必要があります。'),
    ];
    const [best] = await bestPassages('自転車の鎖を交換する', texts, { language: 'ja', most: 3 });
    expect(best?.sourceId).toBe('ja2');
  });
});

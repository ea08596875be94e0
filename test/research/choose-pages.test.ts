import { describe, expect, it } from 'vitest';
import { RESEARCH_BOUNDS } from '../../src/research/limits.ts';
import { choosePages, interleaved } from '../../src/research/reading/choose-pages.ts';

const reasons = (found: string[], tried: string[] = []) => {
  const { chosen, left } = choosePages(found, tried, RESEARCH_BOUNDS);
  return [chosen, left.map(({ reason }) => reason)];
};

// contract.md N4
describe('the pages that are read', () => {
  it('are two of a site, with www or without; a third is left', () => {
    const found = [
      'https://a.example/1',
      'https://www.a.example/2',
      'https://a.example/3',
      'https://b.example/1',
    ];
    expect(reasons(found)).toEqual([[found[0], found[1], found[3]], ['enough of this site']]);
    expect(reasons(['https://a.example/4'], ['https://a.example/1', 'https://a.example/2'])).toEqual([
      [],
      ['enough of this site'],
    ]);
  });

  it('are twelve; the thirteenth is left, however many searches and attempts there are', () => {
    const found = Array.from({ length: 13 }, (_, at) => `https://site${at}.example/`);
    expect(reasons(found)).toEqual([found.slice(0, 12), ['enough pages']]);
    expect(reasons(found.slice(11), found.slice(0, 11))).toEqual([found.slice(11, 12), ['enough pages']]);
  });

  it('are each address once, whatever its fragment, and no address that is none', () => {
    expect(
      reasons([
        'https://a.example/1#x',
        'https://a.example/1#y',
        'ftp://a.example/',
        'https://u:p@b.example/',
        '',
      ]),
    ).toEqual([
      ['https://a.example/1'],
      ['read already', 'invalid address', 'invalid address', 'invalid address'],
    ]);
  });

  it('come from all searches in turn', () => {
    expect(interleaved([['a1', 'a2', 'a3'], [], ['b1'], ['c1', 'c2']])).toEqual([
      'a1',
      'b1',
      'c1',
      'a2',
      'c2',
      'a3',
    ]);
    expect(interleaved([])).toEqual([]);
  });
});

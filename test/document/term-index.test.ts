import { expect, it } from 'vitest';
import { indexRanges, indexTerms } from '../../src/document/text/term-index.ts';
import { MAX_OCCURRING, occurringTerms } from '../../src/document/translation/glossary.ts';

const terms = (...sources: string[]) => sources.map((source) => ({ source, caseSensitive: false }));
const exact = (source: string) => ({ source, caseSensitive: true });
const found = (wanted: Parameters<typeof indexTerms>[0], text: string) =>
  indexTerms(wanted)(text)
    .map(({ source }) => source)
    .sort();

// contract.md V12
it.each([
  ['words of their own', terms('garden', 'gar', 'den'), 'My garden, gardens.', ['garden']],
  ['any case', terms('straße', 'ärger'), 'STRASSE und A\u0308RGER', ['straße', 'ärger']],
  ['one case', [exact('US'), exact('us')], 'Send it to us.', ['us']],
  ['several words', terms('Acme Cloud', 'Acme'), 'acme\n cloud and Acme, cloud', ['Acme', 'Acme Cloud']],
  [
    'signs',
    terms('C++', 'Node.js', '.NET', 'R&D'),
    'c++, node.js, ASP.NET & R&D',
    ['.NET', 'C++', 'Node.js', 'R&D'],
  ],
  ['apostrophes', terms("l'eau", 'eau', 'Acme'), 'L’eau d’Acme, Acme’s', ['Acme', 'eau', "l'eau"]],
  ['Cyrillic', terms('сад', 'ЁЛКА'), 'Сад у ёлка, садовник', ['ЁЛКА', 'сад']],
  ['Arabic', terms('حديقة', 'بيت'), 'حديقة جميلة والبيت', ['حديقة']],
  ['Devanagari', terms('बाग', 'पानी'), 'बाग में पानीवाला', ['बाग']],
  [
    'no spaces: Chinese and Japanese',
    terms('東京', 'テスト', '花园'),
    '大東京のテストケース、花园里',
    ['テスト', '東京', '花园'],
  ],
  ['no spaces: Thai', terms('น้ำ'), 'ดื่มน้ำเย็น', ['น้ำ']],
  ['endings: Korean', terms('클라우드', '우드'), '이 클라우드는', ['클라우드']],
  ['beginnings of another', terms('a', 'a b', 'a b c', 'a b d'), 'a b c', ['a', 'a b', 'a b c']],
  ['the dotless i', terms('ılık'), 'ilik', []],
])('a term is found as people read it: %s', (_, wanted, text, expected) => {
  expect(found(wanted, text)).toEqual([...expected].sort());
});

it('texts are read without their tags and references', () => {
  const wanted = terms('Acme Cloud', 'R&D', 'id');
  const texts = ['Our <b id="1">Acme</b> Cloud,', 'and R&amp;D', '<broken'];
  expect(occurringTerms(wanted, texts, 'en').map(({ source }) => source)).toEqual(['Acme Cloud', 'R&D']);
});

it('of very many terms that occur the first ones go along, in the order of the glossary', () => {
  const wanted = terms(...Array.from({ length: 5_000 }, (_, index) => `term${5_000 - index}`));
  const texts = Array.from({ length: 300 }, (_, index) => `A text about term${index + 1}.`);
  const chosen = occurringTerms(wanted, texts, 'en');
  expect(chosen).toEqual(wanted.slice(-MAX_OCCURRING));
});

// contract.md V12
it('translated terms are found in their inflected forms, names and terms whose case matters as they are written', () => {
  const wanted = [
    { source: 'raised bed', caseSensitive: false, target: 'Hochbeet' },
    { source: 'berry', caseSensitive: false, target: 'Beere' },
    { source: 'generator', caseSensitive: false, target: 'Generator' },
    { source: 'Acme bed', caseSensitive: false, target: null },
    { source: 'Bed', caseSensitive: true, target: 'Beet' },
  ];
  const termsIn = (text: string, language: string | null) =>
    indexTerms(
      wanted,
      language,
    )(text)
      .map(({ source }) => source)
      .sort();
  const text = 'Raised beds, berries and Acme beds; in general, Beds.';
  expect(termsIn(text, 'en')).toEqual(['berry', 'raised bed']);
  expect(termsIn(text, 'en-GB')).toEqual(['berry', 'raised bed']);
  expect(termsIn(text, 'pl')).toEqual([]);
  expect(termsIn('An Acme bed', 'en')).toEqual(['Acme bed']);
});

it('the places of terms are in order, the longest of those that overlap', () => {
  const placesIn = indexRanges([...terms('acme', 'Acme Cloud', 'straße'), exact('R&D')]);
  const text = 'Die STRASSE zu ACME\ncloud: R&D, r&d, Acmes Straße, Acme.';
  expect(placesIn(text).map(({ start, end }) => text.slice(start, end))).toEqual([
    'STRASSE',
    'ACME\ncloud',
    'R&D',
    'Straße',
    'Acme',
  ]);
});

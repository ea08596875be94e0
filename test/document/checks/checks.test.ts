import { describe, expect, it } from 'vitest';
import { echoedAmong } from '../../../src/document/translation/checks/language.ts';
import { checkSegment, type SegmentFacts } from '../../../src/document/translation/checks/segment.ts';
import { facts } from './damage.ts';

const codes = (source: string, translated: string, given: SegmentFacts): string[] =>
  checkSegment(source, translated, given).map(({ code }) => code);

const LONG = 'Young plants need a good deal of water in the first weeks after you have planted them. ';

describe('a good translation raises no alarm', () => {
  it.each([
    ['de', 'On March 4, 2026, 1,234.5 km were left.', 'Am 04.03.2026 blieben 1.234,5 km übrig.'],
    ['de', 'The 1990s: 3 pm, 50% of twenty-five people.', 'Die 90er: 15:00 Uhr, 50 Prozent von 25 Menschen.'],
    ['es', 'Three of the 12 000 seats cost $5.', 'Tres de los 12.000 asientos cuestan 5 USD.'],
    [
      'fr',
      'In the 19th century 2 million people lived here.',
      'Au XIXe siècle, 2 000 000 de personnes vivaient ici.',
    ],
    ['ru', 'Chapter 3 has 5 parts of 30 pages.', 'В третьей главе пять частей по 30 страниц.'],
    ['ar', 'It rained 12.5 mm on 24 days in 2025.', 'هطل المطر ١٢٫٥ ملم في ٢٤ يوما عام ٢٠٢٥.'],
    ['fa', 'It rained on 24 days in 2025.', 'در سال ۲۰۲۵ در ۲۴ روز باران بارید.'],
    ['hi', 'It rained on 24 days in 2025.', 'वर्ष २०२५ में २४ दिन बारिश हुई।'],
    [
      'ja',
      'The 30 gardens have 12,000 visitors in October 2026.',
      '３０の庭園には2026年10月に1万2千人が訪れます。',
    ],
    ['zh', 'Article 11 was written in 1948 by 300,000 people.', '第十一条由三十万人于一九四八年写成。'],
    ['ko', 'The 30 gardens have 12,000 visitors.', '30개의 정원에는 1만 2천 명이 방문합니다.'],
    ['de', 'Note: water them early.', 'Hinweis: Gießen Sie früh.'],
    ['de', 'Here is the plan: dig, plant, water.', 'Hier ist der Plan: graben, pflanzen, gießen.'],
    ['de', 'Of course! The translation is free.', 'Natürlich! Die Übersetzung ist kostenlos.'],
    ['de', '“Well done,” she said.', '„Gut gemacht“, sagte sie.'],
    ['ja', 'MacBook Pro with M3 chip', 'M3 チップ搭載 MacBook Pro'],
    ['de', 'React, Vue, Angular, Svelte, Solid', 'React, Vue, Angular, Svelte, Solid'],
    ['sr-Latn', 'A garden in spring is full of flowers.', 'Vrt u proleće je pun cveća.'],
    ['en', 'OK', 'OK'],
  ])('%s: %s', (language, source, translated) => {
    const from = language === 'en' ? 'de' : 'en';
    expect(checkSegment(source, translated, facts(language, { sourceLanguage: from }))).toEqual([]);
  });

  it('from Chinese and Japanese numerals', () => {
    const given = facts('en', { sourceLanguage: 'zh' });
    expect(checkSegment('第三十二条，一千二百人。', 'Article 32, 1,200 people.', given)).toEqual([]);
    expect(codes('第三十二条，一千二百人。', 'Article 33, 1,200 people.', given)).toEqual(['numbers']);
  });

  // contract.md V20
  it('between variants of a language, or when it is pseudo-localisation', () => {
    expect(checkSegment(LONG, LONG, facts('en-GB'))).toEqual([]);
    expect(checkSegment(LONG, `⟦${LONG}⟧`, facts('ja', { pseudo: true }))).toEqual([]);
  });
});

describe('a bad translation is recognised', () => {
  it.each([
    ['length', 'de', LONG.repeat(20), 'Hallo.'],
    ['numbers', 'de', 'It took 12 or 13 days.', 'Es dauerte 12 oder 31 Tage.'],
    ['numbers', 'zh', 'It took 30 days.', '花了三百天。'],
    ['numbers', 'ar', 'In 2025 it took 24 days.', 'في عام ٢٠٢٥ استغرق ٤٢ يوما.'],
    ['numbers', 'de', 'Version 3.5 is out.', 'Version 35 ist da.'],
    ['units', 'de', 'It is 5 km away.', 'Es ist 5 Meilen entfernt.'],
    ['units', 'ja', 'It rose by 5 %.', '5‰上昇した。'],
    ['chatter', 'de', 'A garden.', 'Sure! Here is the translation: Ein Garten.'],
    ['chatter', 'ja', 'A garden.', '以下は翻訳です：\n庭'],
    ['chatter', 'de', 'A garden.', 'Ein Garten. (Note: or "ein Park")'],
    ['chatter', 'de', 'A garden.', '{"translation": "Ein Garten."}'],
    ['chatter', 'es', 'A garden.', '"Un jardín."'],
    ['echo', 'de', LONG, LONG],
    ['echo', 'es', LONG, 'Young plants need lots of water during the first weeks once they were planted.'],
    [
      'language',
      'es',
      LONG,
      'As plantas jovens precisam de muita água nas primeiras semanas depois de serem plantadas no jardim.',
    ],
    ['script', 'ru', LONG, 'Молодым растениям нужно много воды в первые недели после посадки 植物.'],
    ['script', 'ja', LONG, '年轻的植物在种植后的最初几周需要大量的水分和阳光才能生长。'],
  ])('%s in %s: %s', (code, language, source, translated) => {
    expect(codes(source, translated, facts(language))).toContain(code);
  });

  it('when it is longer than its field takes', () => {
    expect(checkSegment('Watering', 'x'.repeat(71), facts('de', { kind: 'metaTitle' }))).toContainEqual({
      code: 'limit',
      message: 'the translation has 71 characters: write one of at most 70',
      soft: true,
    });
    expect(codes('A garden '.repeat(9), 'Ein Garten '.repeat(9), facts('de', { kind: 'heading' }))).toEqual(
      [],
    );
  });

  it('when it lacks a term of the glossary, whose inflections count', () => {
    const glossary = [
      { source: 'flower bed', target: 'Blumenbeet', caseSensitive: false },
      { source: 'Go', target: null, caseSensitive: true },
      { source: 'spring', target: '春', caseSensitive: false },
    ];
    const of = (source: string, translated: string, language = 'de') =>
      checkSegment(source, translated, facts(language, { glossary })).map(({ message }) => message);
    expect(of('Two flower bed plans. We go.', 'Zwei Blumenbeete. Wir gehen.')).toEqual([]);
    expect(of('A Flower bed in Go.', 'Ein Beet auf Los.')).toEqual([
      '"Go" must stay as it is',
      '"flower bed" must be translated as "Blumenbeet"',
    ]);
    expect(of('In spring.', '春に。', 'ja')).toEqual([]);
    expect(of('The offspring.', '子孫です。', 'ja')).toEqual([]);
    expect(of('In spring.', '夏に。', 'ja')).toHaveLength(1);
  });
});

it('a language is named without what follows language, script and region in its tag', () => {
  const portuguese =
    'As plantas jovens precisam de muita água nas primeiras semanas depois de serem plantadas no jardim.';
  expect(checkSegment(LONG, portuguese, facts('es-u-ca-buddhist'))).toContainEqual(
    expect.objectContaining({ message: 'the translation is in Portuguese: translate into Spanish' }),
  );
});

// contract.md V24
it('short texts that came back as they were are judged together', () => {
  const languages = { sourceLanguage: 'en', targetLanguage: 'de' };
  const same = (texts: string[]) => texts.map((source) => ({ source, translated: source }));
  const english = same([
    'Watering',
    'What you need',
    'When to plant',
    'How to water young plants',
    'Read on',
  ]);
  expect(echoedAmong(english, languages)).toEqual([0, 1, 2, 3, 4]);
  expect(
    echoedAmong([...english.slice(1, 4), { source: 'The end', translated: 'Das Ende' }], languages),
  ).toEqual([0, 1, 2]);
  expect(echoedAmong(english.slice(0, 1), languages)).toEqual([]);
  expect(
    echoedAmong(same(['iPhone 17', 'MacBook Pro', 'Apple TV', 'HomePod mini', 'AirPods']), languages),
  ).toEqual([]);
  expect(echoedAmong(english, { sourceLanguage: 'en', targetLanguage: 'en-GB' })).toEqual([]);
});

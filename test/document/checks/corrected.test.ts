import { describe, expect, it } from 'vitest';
import { checkSegment, type SegmentFacts } from '../../../src/document/translation/checks/segment.ts';
import type { GlossaryTerm } from '../../../src/document/translation/context.ts';
import { needsLocalising } from '../../../src/document/translation/figures.ts';

const facts = (sourceLanguage: string, targetLanguage: string, glossary: readonly GlossaryTerm[] = []) =>
  ({ kind: 'paragraph', sourceLanguage, targetLanguage, glossary, pseudo: false }) satisfies SegmentFacts;
const codes = (source: string, translated: string, given: SegmentFacts): string[] =>
  checkSegment(source, translated, given).map(({ code, soft }) => (soft ? code : `${code}!`));

// contract.md V39
describe('words that the source says itself are no remark of a model', () => {
  it.each([
    ['en', 'zh', 'Note that young plants need water.', '注意：幼苗需要水。'],
    ['en', 'ja', 'Note that young plants need water.', '注意：若い植物には水が必要です。'],
    ['en', 'es', 'Note that young plants need water.', 'Nota: las plantas jóvenes necesitan agua.'],
    ['en', 'fr', 'Note that young plants need water.', 'Remarque : les jeunes plantes ont besoin d’eau.'],
    ['en', 'de', 'Please note that they need water.', 'Hinweis: Sie brauchen Wasser.'],
    ['en', 'zh', 'Be careful with late frost.', '注意：小心晚霜。'],
    ['de', 'en', 'Bitte beachten Sie den Frost.', 'Note: beware of the frost.'],
    ['en', 'es', 'Sure, you can water them at night.', 'Claro: puede regarlas de noche.'],
    ['en', 'de', 'Of course you can.', 'Natürlich: Das geht.'],
    ['en', 'ru', 'Of course you can do that.', 'Конечно! Это можно.'],
    ['en', 'es', 'Of course you can.', '¡Claro! Puede hacerlo.'],
    ['en', 'de', 'Here is the plan, dig and plant.', 'Hier ist der Plan: graben und pflanzen.'],
    ['en', 'ja', 'The following tools are needed.', '以下：道具が必要です。'],
  ])('%s to %s: %s', (from, to, source, translated) => {
    expect(codes(source, translated, facts(from, to))).toEqual([]);
  });

  it.each([
    ['de', 'Young plants need water.', 'Here is the translation: Junge Pflanzen brauchen Wasser.'],
    ['de', 'Note that plants need water.', 'Hier ist die Übersetzung: Pflanzen brauchen Wasser.'],
    ['zh', 'Young plants need water.', '以下是翻译：幼苗需要水。'],
    ['es', 'Young plants need water.', 'Las plantas necesitan agua. Nota: tono formal.'],
    ['ru', 'Young plants need water.', 'Конечно! Молодым растениям нужна вода.'],
  ])('a real one is found, and the text can be used: %s, %s', (to, source, translated) => {
    expect(codes(source, translated, facts('en', to))).toContain('chatter');
  });

  it('an object around the text makes it unusable', () => {
    expect(codes('A garden.', '{"translation": "Ein Garten."}', facts('en', 'de'))).toContain('chatter!');
  });
});

// contract.md V40
describe('figures alone', () => {
  it.each([
    ['en', 'de', '1,500'],
    ['en', 'de', '$1,234.56'],
    ['en', 'de', '3/4/2025'],
    ['en', 'es', '3/4/2025'],
    ['en', 'ja', '3/4/2025'],
    ['en', 'de', '1.5'],
    ['en', 'fr', '12.5%'],
    ['en', 'de', '1,500–2,000'],
    ['de', 'en', '1.500,00 €'],
    ['de', 'fr', '1.500'],
    ['de', 'en', '04.03.25'],
    ['fr', 'en', '1 500'],
    ['hi', 'de', '12,34,567'],
    ['fa', 'de', '۱٬۵۰۰'],
  ])('are sent when the languages write them differently: %s to %s, %s', (from, to, text) => {
    expect(needsLocalising(text, { sourceLanguage: from, targetLanguage: to })).toBe(true);
  });

  it.each([
    ['en', 'ja', '1,500'],
    ['en', 'es-MX', '$1,234.56'],
    ['en-GB', 'es', '3/4/2025'],
    ['de', 'it', '1.500,00'],
    ['en', 'de', '2025'],
    ['en', 'de', '1500'],
    ['en', 'de', '50%'],
    ['en', 'de', '1/2'],
    ['en', 'de', '24/7'],
    ['en', 'de', '10:30'],
    ['en', 'de', '2025-03-04'],
    ['en', 'de', '1.2.3'],
    ['de', 'en', '192.168.100.200'],
    ['en', 'de', '192.168.0.1'],
    ['en', 'de', '+49 30 1234567'],
    ['en', 'de', '555-1234'],
    ['en', 'de', '#12'],
    ['en', 'de', '3.'],
    ['en', 'de', '1990–1995'],
    ['en', 'de', '—'],
  ])('stay where they are written alike: %s to %s, %s', (from, to, text) => {
    expect(needsLocalising(text, { sourceLanguage: from, targetLanguage: to })).toBe(false);
  });
});

// contract.md V40
describe('numbers and dates are compared by value', () => {
  it.each([
    ['en', 'de', '1,500.00', '1.500,00'],
    ['en', 'de', '1,500', '1500'],
    ['en', 'de', '$1,234.56', '1.234,56 $'],
    ['en', 'de', 'It costs 1,500 dollars.', 'Es kostet 1.500 Dollar.'],
    ['en', 'fr', '1,500', '1 500'],
    ['en', 'de-CH', '1,500.5', '1’500.5'],
    ['en', 'de-AT', '1,500', '1.500'],
    ['en', 'fa', '1,500.5', '۱٬۵۰۰٫۵'],
    ['en', 'hi', '1,234,567', '12,34,567'],
    ['de', 'en', '1,5', '1.5'],
    ['en', 'de', '3/4/2025', '4.3.2025'],
    ['en', 'de', '3/4/2025', '04.03.2025'],
    ['en', 'de', '3/4/2025', '4. März 2025'],
    ['en', 'es', '3/4/2025', '4/3/2025'],
    ['en', 'ja', '3/4/2025', '2025/3/4'],
    ['en', 'sv', 'On 3/25/2025 it opened.', 'Den 2025-03-25 öppnade det.'],
    ['en', 'es', '25/3/2025', '25/3/2025'],
    ['en', 'de', 'Version 3.125 is out.', 'Version 3.125 ist da.'],
    ['en', 'de', 'Python 3.125', 'Python 3.125'],
    ['en', 'de', 'Use v1.125 or 10.0.0.1 at 10:30.', 'Nutze v1.125 oder 10.0.0.1 um 10:30.'],
    ['en', 'de', 'In 2025 call +49 30 123 456.', 'Ruf 2025 unter +49 30 123 456 an.'],
    ['en', 'de', '3–5 of 1/2, 50%, #12', '3–5 von 1/2, 50 %, #12'],
  ])('%s to %s: %s = %s', (from, to, source, translated) => {
    expect(codes(source, translated, facts(from, to))).toEqual([]);
  });

  it.each([
    ['en', 'de', '1.5', '1.500'],
    ['en', 'de', '1,500', '1,500'],
    ['en', 'de', 'It costs 1,500 dollars and weighs 1.5 kg.', 'Es kostet 1,500 Dollar und wiegt 1,5 kg.'],
    ['de', 'en', 'Etwa 1.500 Gärten.', 'About 1.500 gardens.'],
    ['en', 'es', '3/4/2025', '3/4/2025'],
    ['en', 'de', '3/4/2025', '3.4.2025'],
    ['en-GB', 'ja', '3/4/2025', '2025/3/4'],
    ['en', 'de', 'Python 3.125', 'Python 3.126'],
  ])('%s to %s: %s is not %s', (from, to, source, translated) => {
    expect(codes(source, translated, facts(from, to))).toEqual(['numbers']);
  });
});

// contract.md V41
describe('a term of the glossary is looked for by its stem', () => {
  const bed = (target: string) => [{ source: 'raised bed', target, caseSensitive: false }];

  it.each([
    ['es', 'bancal elevado', 'Raised beds warm up early.', 'Los bancales elevados se calientan pronto.'],
    ['es', 'bancal elevado', 'The bank is raising the price.', 'El banco está elevando la tarifa.'],
    ['de', 'Hochbeet', 'Build raised beds.', 'Bauen Sie Hochbeete.'],
    ['de', 'Hochbeet', 'Build raised beds.', 'Bauen Sie Gartenhochbeete.'],
    ['ru', 'высокая грядка', 'Build raised beds.', 'Постройте высокие грядки.'],
    ['ar', 'حوض مرتفع', 'Build a raised bed.', 'ابن الحوض المرتفع.'],
    ['ja', '高床花壇', 'Build raised beds.', '高床花壇を作ります。'],
    ['pl', 'podwyższona grządka', 'Build raised beds.', 'Zbuduj podwyższone grządki.'],
  ])('in %s as %s: %s', (to, target, source, translated) => {
    expect(codes(source, translated, facts('en', to, bed(target)))).toEqual([]);
  });

  it.each([
    ['es', 'bancal elevado', 'Raised beds warm up.', 'El banco está elevando la tarifa.'],
    ['de', 'Hochbeet', 'Raised beds warm up.', 'Die Beete werden warm.'],
    ['ru', 'высокая грядка', 'Raised beds warm up.', 'Приподнятые клумбы теплеют.'],
  ])('another word is found in %s instead of %s: %s', (to, target, source, translated) => {
    expect(codes(source, translated, facts('en', to, bed(target)))).toEqual(['glossary']);
  });

  it('words that are only derived from the same stem are not the term', () => {
    const glossary = [{ source: 'generator', target: 'Generator', caseSensitive: false }];
    expect(codes('A general idea.', 'Eine allgemeine Idee.', facts('en', 'de', glossary))).toEqual([]);
    expect(codes('Two generators.', 'Zwei Maschinen.', facts('en', 'de', glossary))).toEqual(['glossary']);
  });

  it('a message quotes a term of 60 characters whole', () => {
    const [source, target] = [
      'raised bed '.repeat(5).trim(),
      'Hochbeet aus dem Holz der sehr alten Lärchen im Bergwald',
    ];
    const [defect] = checkSegment(
      `The ${source}.`,
      'Die Beete sind aus Holz und stehen im Garten hinter dem Haus.',
      facts('en', 'de', [{ source, target, caseSensitive: false }]),
    ).filter(({ code }) => code === 'glossary');
    expect(defect?.message).toBe(`"${source}" must be translated as "${target}"`);
  });
});

const TRADITIONAL = '幼苗在種植後的最初幾週需要大量的水分，請記得每天為它們澆水。';
const SIMPLIFIED = '幼苗在种植后的最初几周需要大量的水分，请记得每天为它们浇水。';
const CYRILLIC = 'Младим биљкама је потребно много воде у првим недељама после садње у башти.';
const LATIN = 'Mladim biljkama je potrebno mnogo vode u prvim nedeljama posle sadnje u bašti.';
const PLANTS = 'Young plants need a good deal of water in the first weeks after planting in the garden.';

// contract.md V42
describe('a variant has a script', () => {
  it.each([
    ['zh-TW', TRADITIONAL],
    ['zh-Hant', TRADITIONAL],
    ['zh-HK', TRADITIONAL],
    ['zh-CN', SIMPLIFIED],
    ['zh-Hans', SIMPLIFIED],
    ['zh', SIMPLIFIED],
    ['sr', CYRILLIC],
    ['sr', LATIN],
    ['sr-Latn', LATIN],
    ['sr-Cyrl', CYRILLIC],
    ['sr-RS', LATIN],
  ])('%s may be %s', (to, translated) => {
    expect(codes(PLANTS, translated, facts('en', to))).toEqual([]);
  });

  it.each([
    ['zh-TW', SIMPLIFIED],
    ['zh-Hant', SIMPLIFIED],
    ['zh-CN', TRADITIONAL],
    ['zh-Hans', TRADITIONAL],
    ['zh', TRADITIONAL],
    ['sr-Cyrl', LATIN],
  ])('%s is not %s, which is not charged', (to, translated) => {
    expect(checkSegment(PLANTS, translated, facts('en', to))).toContainEqual(
      expect.objectContaining({ code: 'script', soft: true, untranslated: true }),
    );
  });

  it('Serbian in Cyrillic is not Serbian in Latin letters', () => {
    expect(codes(PLANTS, CYRILLIC, facts('en', 'sr-Latn'))).toContain('script!');
  });

  it('one form of Chinese is translated into the other, a few characters of it are named', () => {
    expect(codes(SIMPLIFIED, SIMPLIFIED, facts('zh-CN', 'zh-TW'))).toEqual(['script']);
    expect(codes(SIMPLIFIED, TRADITIONAL, facts('zh-CN', 'zh-TW'))).toEqual([]);
    expect(checkSegment(PLANTS, TRADITIONAL.replace('後', '园'), facts('en', 'zh-TW'))).toEqual([
      { code: 'script', message: 'write these characters in Traditional Chinese: 园', soft: true },
    ]);
  });
});

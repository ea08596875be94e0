import { describe, expect, it } from 'vitest';
import { checkSegment } from '../../../src/document/translation/checks/segment.ts';
import { reassemble } from '../../../src/document/translation/reassemble.ts';
import { extractSegments } from '../../../src/document/translation/segments.ts';
import type { Snapshot } from '../../../src/document/translation/source.ts';
import { facts, SAMPLES } from './damage.ts';
import type { Target } from './udhr.ts';

// contract.md V20 and V38
describe('the layout of a text', () => {
  it.each([
    ['breaks', 'de', 'One.\n\nTwo.', 'Eins. Zwei.'],
    ['breaks', 'de', 'One.\n\nTwo.', 'Eins.\nZwei.'],
    ['breaks', 'de', 'One line\nanother', 'Eine Zeile und eine andere'],
    ['breaks', 'de', 'One line of a text', 'Eine Zeile\neines Textes'],
    ['spaces', 'de', 'It is 10\u00a0km.', 'Es sind 10 km.'],
    ['spaces', 'fr', 'In 10\u202f000 gardens', 'Dans 10 000 jardins'],
    ['references', 'de', 'Research &amp; more', 'Forschung &amp;amp; mehr'],
    ['references', 'de', 'A &lt; B here', 'Ein A &amp;lt; B hier'],
  ])('is a defect of %s where it is lost in %s: %j', (code, language, source, translated) => {
    const defects = checkSegment(source, translated, facts(language));
    expect(defects.map((defect) => [defect.code, defect.soft])).toEqual([[code, true]]);
  });

  it.each([
    ['de', 'One.\n\nTwo\nlines.', 'Eins.\n\nZwei\nZeilen.'],
    ['fr', 'Watch out: it is hot!', 'Attention\u00a0: il fait chaud\u202f!'],
    ['de', 'It is 10\u00a0km.', 'Es sind 10\u00a0km.'],
    ['ja', 'It is 10\u00a0km.', '10キロです。'],
    ['de', 'R&amp;D and 5 &lt; 6', 'F&amp;E und 5 &lt; 6'],
    ['de', 'R&amp;D is here', 'F&E ist hier'],
  ])('is none in a good translation into %s: %j', (language, source, translated) => {
    expect(checkSegment(source, translated, facts(language))).toEqual([]);
  });

  it('is checked for ideographic spaces where both languages write them', () => {
    const given = facts('zh-Hant', { sourceLanguage: 'ja' });
    const codes = (text: string) => checkSegment('東京\u3000大阪', text, given).map(({ code }) => code);
    expect(codes('東京 大阪')).toContain('spaces');
    expect(codes('東京\u3000大阪')).not.toContain('spaces');
    const english = checkSegment('東京\u3000大阪', 'Tokyo Osaka', facts('en', { sourceLanguage: 'ja' }));
    expect(english.map(({ code }) => code)).not.toContain('spaces');
  });
});

// contract.md V20
it('finds each loss in 500 texts, and none in their translations by people', () => {
  const LOSSES = [
    ['breaks', (text: string) => text.replaceAll('\n\n', ' ')],
    ['breaks', (text: string) => text.replaceAll(/\n+/g, '\n')],
    ['spaces', (text: string) => text.replaceAll('\u00a0', ' ')],
    ['references', (text: string) => text.replaceAll('&amp;', '&amp;amp;')],
  ] as const;
  const codesOf = (source: string, translated: string, language: Target) =>
    checkSegment(source, translated, facts(language)).map(({ code }) => code);
  const missed = new Map<string, number>();
  const alarms: string[] = [];
  for (const { language, source, target } of SAMPLES) {
    const [from, to] = [source, target].map((text) => `${text}\n\nP&amp;R: 48\u00a0km`);
    if (from === undefined || to === undefined) continue;
    const codes = codesOf(from, to, language);
    if (['breaks', 'spaces', 'references'].some((code) => codes.some((found) => found === code)))
      alarms.push(to);
    for (const [code, lose] of LOSSES) {
      if (!codesOf(from, lose(to), language).includes(code)) missed.set(code, (missed.get(code) ?? 0) + 1);
    }
  }
  expect(Object.fromEntries(missed)).toEqual({});
  expect(alarms).toEqual([]);
});

// contract.md V38
it('keeps no-break and ideographic spaces in single lines and at the ends of a text', () => {
  const blocks: Snapshot['document']['blocks'] = [
    { id: 'p', type: 'paragraph', text: '\u3000Indented.' },
    { id: 'm', type: 'paragraph', format: 'markdown', text: '\u3000**Indented** &amp;amp; bold.' },
  ];
  const snapshot: Snapshot = {
    title: 'Careful',
    metaTitle: 'Ten rooms',
    metaDescription: null,
    targetKeywords: ['a b'],
    secondaryKeywords: [],
    document: { version: 1, blocks },
    assets: [],
  };
  const answers: Record<string, string> = {
    title: 'Attention\u00a0:\nten  rooms ',
    metaTitle: '東京\u3000大阪',
    'targetKeyword.0': 'a\u202fb',
    'block.0.text': 'Eingerückt.',
    'block.1.text': '<b id="1">Eingerückt</b> <x id="2"/> fett.',
  };
  expect(extractSegments(snapshot).map(({ key }) => key)).toEqual(Object.keys(answers));
  const { document, ...fields } = reassemble(snapshot, new Map(Object.entries(answers)), new Map());
  expect(fields).toMatchObject({
    title: 'Attention\u00a0: ten rooms',
    metaTitle: '東京\u3000大阪',
    targetKeywords: ['a\u202fb'],
  });
  expect(document.blocks.map((block) => 'text' in block && block.text)).toEqual([
    '\u3000Eingerückt.',
    '\u3000**Eingerückt** \\&amp; fett.',
  ]);
});

// contract.md T21 and V38
it('leaves a text in the words of the source when a client could not save its translation', () => {
  const source = 'A good sentence about gardens. '.repeat(600).trim();
  const short = 'Another one.';
  const snapshot: Snapshot = {
    title: 'Long',
    metaTitle: null,
    metaDescription: null,
    targetKeywords: [],
    secondaryKeywords: [],
    document: {
      version: 1,
      blocks: [
        { id: 'long', type: 'paragraph', text: source },
        { id: 'short', type: 'paragraph', text: short },
      ],
    },
    assets: [],
  };
  const answers = new Map(
    extractSegments(snapshot).map(({ key, text }) => [key, text.replaceAll('good', 'very good')]),
  );
  const { document, overlong } = reassemble(snapshot, answers, new Map());
  expect([...overlong]).toEqual(['block.0.text']);
  expect(document.blocks[0]).toEqual({ id: 'long', type: 'paragraph', text: source });
});

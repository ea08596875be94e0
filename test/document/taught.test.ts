import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Block } from '../../src/document/format/schema.ts';
import { markCurrent } from '../../src/document/refresh/decide.ts';
import { taughtBy } from '../../src/document/refresh/taught.ts';
import { reassemble } from '../../src/document/translation/reassemble.ts';
import { extractSegments } from '../../src/document/translation/segments.ts';
import type { Snapshot } from '../../src/document/translation/source.ts';
import { pseudoLocalize } from '../../src/providers/pseudo.ts';
import { anySnapshot } from './arbitraries.ts';
import { NOTHING, refresh, rejectProposal, translateNew, type Version } from './versions.ts';

const AT = '2026-11-23T05:00:00.000Z';
const article = (...blocks: Block[]): Snapshot => ({ ...NOTHING, document: { version: 1, blocks } });
const paragraph = (text: string, rest: object = {}): Block =>
  ({ id: 'p', type: 'paragraph', text, format: 'markdown', ...rest }) as Block;
/** What is learned from a version whose body says this by now. */
const taughtAs = (source: Snapshot, ...blocks: Block[]) => {
  const { content, provenance } = translateNew(source);
  return taughtBy(source, { ...content, document: { version: 1, blocks } }, provenance);
};

it('what a version teaches, written into its source again, gives the version', () => {
  fc.assert(
    fc.property(anySnapshot, (source) => {
      const { content, provenance }: Version = translateNew(source);
      const segments = extractSegments(source);
      const known = new Map<string, string>();
      for (const { kind, source: from, target } of taughtBy(source, content, provenance)) {
        known.set(`${kind} ${from}`, target);
      }
      const texts = new Map(
        segments.map(({ key, kind, text }) => [key, known.get(`${kind} ${text}`) ?? pseudoLocalize(text)]),
      );
      const again = reassemble(
        source,
        texts,
        new Map(source.assets.map(({ id }, index) => [id, content.assets[index]?.id ?? id])),
      );
      expect(again.document).toEqual(reassembled(source, content));
      expect(
        [...known.keys()].every((text) => segments.some((one) => `${one.kind} ${one.text}` === text)),
      ).toBe(true);
    }),
  );
});

/** The document of the version before a save dropped links that lead nowhere. */
function reassembled(source: Snapshot, content: Snapshot) {
  const texts = new Map(extractSegments(source).map(({ key, text }) => [key, pseudoLocalize(text)]));
  return reassemble(
    source,
    texts,
    new Map(source.assets.map(({ id }, index) => [id, content.assets[index]?.id ?? id])),
  ).document;
}

// contract.md V32
it('the words of a person are learned with the tags where the person has put them', () => {
  const source = article(
    paragraph('Read [the guide](https://a.example/ "A guide") or [the news](https://b.example/), **now**.'),
  );
  const version = paragraph(
    'Lee **ya** [las noticias](https://b.example/) o [la guía](https://a.example/ "Una guía").',
  );
  expect(taughtAs(source, version)).toEqual([
    {
      kind: 'paragraph',
      source: 'Read <a id="1">the guide</a> or <a id="2">the news</a>, <b id="3">now</b>.',
      target: 'Lee <b id="3">ya</b> <a id="2">las noticias</a> o <a id="1">la guía</a>.',
    },
    { kind: 'linkTitle', source: 'A guide', target: 'Una guía' },
  ]);
});

it.each([
  ['another link', 'Lee [la guía](https://c.example/).'],
  ['a link less', 'Lee la guía.'],
  ['more emphasis', 'Lee [la **guía**](https://a.example/).'],
])('a text that has %s by now teaches nothing', (_, text) => {
  expect(taughtAs(article(paragraph('Read [the guide](https://a.example/).')), paragraph(text))).toEqual([]);
});

it('a text of the source that has changed since teaches nothing, the others of its list do', () => {
  const list = (...items: string[]): Block => ({ id: 'l', type: 'list', ordered: false, items });
  const before = article(list('one', 'two', 'three'));
  const { content, provenance } = translateNew(before);
  const [, dos, tres] = ['one', 'two', 'three'].map(pseudoLocalize);
  const items = list('uno', dos ?? '', tres ?? '');
  const edited = { ...content, document: { version: 1 as const, blocks: [items] } };
  const taught = taughtBy(article(list('one', 'TWO', 'three')), edited, provenance);
  expect(taught.map(({ source, target }) => [source, target])).toEqual([
    ['one', 'uno'],
    ['three', tres],
  ]);
});

// contract.md T43
it.each([
  ['swapped and rewritten', ['Seis huevos', 'Dos tazas de harina'], []],
  ['swapped as they were', [pseudoLocalize('Six eggs'), pseudoLocalize('Two cups of flour')], []],
  ['one more', ['Dos tazas de harina', pseudoLocalize('Six eggs'), 'Sal'], []],
  ['one fewer', [pseudoLocalize('Six eggs')], []],
])('items that a person has %s teach nothing crossed', (_, items, expected) => {
  const list = (own: string[]): Block => ({ id: 'l', type: 'list', ordered: false, items: own });
  const taught = taughtAs(article(list(['Two cups of flour', 'Six eggs'])), list(items));
  expect(taught).toEqual(expected);
});

// contract.md T43
it('a sentence that a person adds to a text is not taught as part of its translation', () => {
  const source = article(paragraph('Open the valve.'));
  expect(taughtAs(source, paragraph('Abra la válvula. Con cuidado.'))).toEqual([]);
  expect(taughtAs(source, paragraph('Abra la válvula.'))).toMatchObject([{ target: 'Abra la válvula.' }]);
});

// contract.md T43
it('items that a person has swapped and rewritten teach nothing crossed when a proposal for them is rejected', () => {
  const list = (...own: string[]): Block => ({ id: 'l', type: 'list', ordered: false, items: own });
  const other = { ...paragraph('The other words.'), id: 'o' };
  const made = translateNew(article(list('Two cups of flour', 'Six eggs', 'Salt'), other));
  const source = article(list('Two cups of flour', 'Six eggs', 'Sea salt'), other);
  const items = list('Seis huevos', 'Dos tazas de harina', pseudoLocalize('Salt'));
  const [, last] = made.content.document.blocks;
  const content = { ...made.content, document: { version: 1 as const, blocks: [items, last ?? other] } };
  const { result } = refresh(source, { ...made, content });
  const [proposal] = result.proposals;
  if (!proposal) throw new Error('no proposal');
  const { provenance } = rejectProposal(result.content, result.provenance, proposal);
  for (const known of [result.provenance, provenance]) {
    const taught = taughtBy(source, content, known).map(({ source: from }) => from);
    expect(taught).not.toContain('Two cups of flour');
    expect(taught).not.toContain('Six eggs');
  }
});

// contract.md T43 and T51
it('a text that is marked as current is taught for the present source, of a list only what was not rewritten together', () => {
  const list = (...own: string[]): Block => ({ id: 'l', type: 'list', ordered: false, items: own });
  const before = article(list('Two cups of flour', 'Six eggs', 'Salt'), paragraph('Open the valve.'));
  const source = article(list('Two cups of flour', 'Six eggs', 'Sea salt'), paragraph('Close the valve.'));
  const made = translateNew(before);
  const blocks = [list('Seis huevos', 'Dos tazas de harina', 'Sal marina'), paragraph('Cierre la válvula.')];
  const content = { ...made.content, document: { version: 1 as const, blocks } };
  let { provenance } = made;
  for (let times = 0; times < 2; times += 1) {
    const marked = markCurrent(source, content, provenance, new Set(['block:l', 'block:p']), AT);
    expect(marked.keys).toEqual(['block:l', 'block:p']);
    provenance = JSON.parse(JSON.stringify(marked.provenance));
    const taught = taughtBy(source, content, provenance);
    expect(taught.map(({ source: from, target }) => [from, target])).toEqual([
      ['Close the valve.', 'Cierre la válvula.'],
    ]);
    expect(refresh(source, { content, provenance }).plan.steps).toEqual([]);
  }
});

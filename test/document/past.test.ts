import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Block } from '../../src/document/format/schema.ts';
import { boundPast } from '../../src/document/refresh/past.ts';
import { compare } from '../../src/document/refresh/states.ts';
import { taughtBy } from '../../src/document/refresh/taught.ts';
import type { Pair, UnitKey, UnitProvenance } from '../../src/document/refresh/types.ts';
import type { Snapshot } from '../../src/document/translation/source.ts';
import { pseudoLocalize } from '../../src/providers/pseudo.ts';
import '../support/fast-check.ts';
import { acceptProposal, refresh, rejectProposal, translateNew, type Version } from './versions.ts';
import { article, blockOf, KINDS, paragraph, World, withBlock } from './world.ts';

const others = ['o1', 'o2', 'o3', 'o4'].map((id) => paragraph(id, `The words of ${id}.`));
const stateOf = (source: Snapshot, { content, provenance }: Version, key: UnitKey) =>
  compare(source, content, provenance).units.find((unit) => unit.key === key)?.state;
// contract.md T39
it('a text restored from before the last refresh is stale, teaches nothing, and is made again', () => {
  const slowly = article([paragraph('b', 'Open the valve slowly.'), ...others]);
  const never = article([paragraph('b', 'Never open the valve.'), ...others]);
  const made = translateNew(slowly);
  const { result } = refresh(never, made);
  const restored = { content: made.content, provenance: result.provenance };
  expect(stateOf(never, restored, 'block:b')).toBe('stale');
  const taught = taughtBy(never, restored.content, restored.provenance);
  expect(taught.map(({ source }) => source)).not.toContain('Never open the valve.');
  const again = refresh(never, restored);
  expect(again.segments.map(({ text }) => text)).toEqual(['Never open the valve.']);
  expect(again.result.content.document).toEqual(result.content.document);
  // The source goes back, too: what stands there was made for it.
  expect(stateOf(slowly, restored, 'block:b')).toBe('current');
  expect(stateOf(slowly, { ...result }, 'block:b')).toBe('stale');
});

// contract.md T39
it('an item restored from before the last refresh is made again, the others of its list stay', () => {
  const list = (...items: string[]): Block => ({ id: 'l', type: 'list', ordered: false, items });
  const made = translateNew(article([list('one', 'two', 'three'), ...others]));
  const source = article([list('one', 'two', 'third'), ...others]);
  const { result } = refresh(article([list('one', 'second', 'third'), ...others]), made);
  const later = refresh(source, result).result;
  const old = list(...['one', 'second', 'third'].map(pseudoLocalize));
  const restored = { content: withBlock(later.content, old), provenance: later.provenance };
  expect(stateOf(source, restored, 'block:l')).toBe('stale');
  const { segments, result: again } = refresh(source, restored);
  expect(segments.map(({ text }) => text)).toEqual(['two']);
  expect(again.proposals).toEqual([]);
});

// contract.md T39
it('a text that a person wrote for an earlier source is neither taught nor replaced when it comes back', () => {
  const [first, second] = ['The first words.', 'The second words.'].map((text) =>
    article([paragraph('b', text), ...others]),
  ) as [Snapshot, Snapshot];
  const made = translateNew(first);
  const mine = { ...made, content: withBlock(made.content, paragraph('b', 'Mis palabras.')) };
  expect(stateOf(first, mine, 'block:b')).toBe('edited');
  const { result } = refresh(second, mine);
  const [proposal] = result.proposals;
  const accepted = proposal && acceptProposal(result.content, result.provenance, proposal);
  if (!accepted) throw new Error('not accepted');
  expect(stateOf(second, accepted, 'block:b')).toBe('current');
  const back = { content: mine.content, provenance: accepted.provenance };
  expect(stateOf(second, back, 'block:b')).toBe('editedAndStale');
  expect(taughtBy(second, back.content, back.provenance).map(({ target }) => target)).not.toContain(
    'Mis palabras.',
  );
  expect(refresh(second, back).result).toMatchObject({ applied: [], proposals: [{ key: 'block:b' }] });
  expect(stateOf(first, back, 'block:b')).toBe('edited');
});

// contract.md T41
it('keeps the newest pairs of each text, at most 20, and four times as many as there are texts in all', () => {
  const pairs = (count: number): Pair[] =>
    Array.from({ length: count }, (_, index) => ({ source: `s${index}`, target: `t${index}` }));
  const unit = (key: string, past: number): UnitProvenance => ({
    key: `block:${key}`,
    source: 's',
    target: 't',
    shape: '',
    texts: ['s'],
    written: ['t'],
    past: pairs(past),
    pastTexts: pairs(past),
  });
  const long = boundPast([unit('a', 30), ...Array.from({ length: 9 }, (_, index) => unit(`b${index}`, 0))]);
  expect(long[0]?.pastTexts).toEqual(pairs(20));
  const all = boundPast(Array.from({ length: 10 }, (_, index) => unit(`${index}`, 30)));
  expect(all.map(({ past, pastTexts }) => [past?.length, pastTexts?.length])).toEqual(all.map(() => [4, 4]));
});

// contract.md T42
it("a person's block and a new one of the source with its id both stay", () => {
  const made = translateNew(article(others));
  const own = paragraph('b3', 'De una persona.');
  const content = article([...made.content.document.blocks, own]);
  const source = article([...others, paragraph('b3', 'New in the source.')]);
  const version = { ...made, content: { ...content, title: made.content.title } };
  expect(stateOf(source, version, 'block:b3')).toBe('new');
  const { result } = refresh(source, version);
  const blocks = new Map(result.content.document.blocks.map((block) => [block.id, block]));
  expect(blocks.get('b3')).toEqual(own);
  expect(blocks.get('b3-2')).toEqual(paragraph('b3-2', pseudoLocalize('New in the source.')));
  expect(stateOf(source, result, 'block:b3')).toBe('current');
  // From then on each is found by its own id.
  const changed = article([...others, paragraph('b3', 'Other words.')]);
  const again = refresh(changed, result).result;
  expect(again.content.document.blocks.find(({ id }) => id === 'b3')).toEqual(own);
  expect(again.applied).toEqual(['block:b3']);
  // Rejecting a proposal for it leaves the person's block its own.
  const [proposal] = refresh(source, version, { apply: 'none' }).result.proposals;
  if (!proposal) throw new Error('no proposal');
  const rejected = rejectProposal(version.content, version.provenance, proposal);
  expect(refresh(source, { ...version, ...rejected }).plan.steps).toEqual([]);
});

// contract.md T39, T42, T43
it("whatever people and refreshes do in whatever order, a person's text stays, and nothing old counts or is taught", () => {
  const steps = fc.array(
    fc.record({ what: fc.constantFrom(...KINDS), at: fc.nat(1_000), to: fc.nat(1_000) }),
    { minLength: 3, maxLength: 25 },
  );
  fc.assert(
    fc.property(fc.array(fc.nat(20), { minLength: 9, maxLength: 9 }), steps, (editions, taken) => {
      const world = new World(editions.map((edition, place) => blockOf(place, edition)));
      for (const step of taken) {
        world.take(step);
        world.check();
      }
    }),
    { numRuns: 100 },
  );
});

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { dropDeadLinks } from '../../src/document/format/links.ts';
import { type Block, MAX_BLOCKS } from '../../src/document/format/schema.ts';
import { planRefresh } from '../../src/document/refresh/plan.ts';
import { compare } from '../../src/document/refresh/states.ts';
import type { Provenance, UnitKey } from '../../src/document/refresh/types.ts';
import { fieldsOf, hashesOf } from '../../src/document/refresh/units.ts';
import { decide } from '../../src/document/tasks/refresh.ts';
import { extractSegments } from '../../src/document/translation/segments.ts';
import type { Snapshot } from '../../src/document/translation/source.ts';
import '../support/fast-check.ts';
import {
  acceptProposal,
  anySource,
  decisions,
  edit,
  edits,
  NOTHING,
  openAfter,
  parsedOnce,
  refresh,
  rejectProposal,
  translateNew,
  type Version,
} from './versions.ts';

/** Source and version as they were, and as people left them. */
const bothSides = fc.record({ source: anySource, inSource: edits(5), inVersion: edits(4) });
type Drawn = typeof bothSides extends fc.Arbitrary<infer Value> ? Value : never;
function sidesOf({ source: source0, inSource, inVersion }: Drawn) {
  const made = translateNew(source0);
  const source = edit(source0, inSource, 'source');
  const version: Version = { ...made, content: edit(made.content, inVersion, 'own') };
  return { source0, source, made: made.content, version };
}

const byId = ({ document }: Snapshot) => new Map(document.blocks.map((block) => [block.id, block]));
const AT = '2026-11-23T05:00:00.000Z';
const json = (value: unknown): string => JSON.stringify(value);
const bare = (block: Block | undefined): string => json({ ...block, id: '' });
const isEqual = (one: unknown, other: unknown): boolean => json(one) === json(other);

/** The body, whatever ids copies of images have. */
const withoutCopies = ({ document }: Snapshot): string =>
  json(document).replaceAll(/"assetId":"[^"]+"/g, '"assetId":""');

/** Texts of a unit by their content. */
const textsOf = (block: Block | undefined): string[] =>
  block === undefined ? [] : hashesOf(fieldsOf('title', { type: 'block', block }));

/** What an engine gets of a block, without texts that were there before. */
function segmentsOf(block: Block, before: readonly string[]): string[] {
  const there = new Set(before);
  const hashes = textsOf(block);
  const fields = fieldsOf('title', { type: 'block', block }).filter((_, index) =>
    there.has(hashes[index] ?? ''),
  );
  const known = new Map(fields.map((field) => [field.keyAt(0), true]));
  return extractSegments({ ...NOTHING, document: { version: 1, blocks: [block] } }, known).map(
    ({ text }) => text,
  );
}

// contract.md T25
it('sends exactly the texts that changed in the source, and none of a block that only moved', () => {
  fc.assert(
    parsedOnce(
      fc.record({
        source: anySource,
        inSource: edits(6),
        inVersion: edits(3, ['text', 'move', 'remove', 'insert']),
      }),
      ({ source: source0, inSource, inVersion }) => {
        const made = translateNew(source0);
        const source = edit(source0, inSource, 'source');
        const content = edit(made.content, inVersion, 'own');
        const { segments } = refresh(source, { ...made, content });
        const [before, was, now] = [byId(source0), byId(made.content), byId(content)];
        const untouched = [...before].filter(([id]) => isEqual(was.get(id), now.get(id)));
        const renamed = new Set(untouched.map(([, block]) => bare(block)));
        const expected = source.document.blocks.flatMap((block) => {
          const known = before.get(block.id);
          if (known !== undefined && !now.has(block.id)) return [];
          return renamed.has(bare(block)) ? [] : segmentsOf(block, textsOf(known));
        });
        const sent = segments.filter(({ key }) => key.startsWith('block.')).map(({ text }) => text);
        expect(sent.sort()).toEqual(expected.sort());
      },
    ),
    { numRuns: 60 },
  );
});

// contract.md T26
it('leaves a block that a person edited as it is, to the byte, and proposes what the source changed of it', () => {
  fc.assert(
    parsedOnce(bothSides, (drawn) => {
      const { source0, source, made, version } = sidesOf(drawn);
      const { result, plan } = refresh(source, version);
      const after = byId(result.content);
      const [before, was, from] = [byId(source0), byId(made), byId(source)];
      const proposed = new Map(result.proposals.map((proposal) => [proposal.key, proposal]));
      for (const block of version.content.document.blocks) {
        if (isEqual(was.get(block.id), block)) continue;
        expect(json(after.get(block.id))).toBe(json(block));
        const known = before.get(block.id);
        const isChanged = known !== undefined && bare(from.get(block.id)) !== bare(known);
        if (isChanged) expect(proposed.has(`block:${block.id}`), block.id).toBe(true);
      }
      // Every unit that is planned is applied or proposed, and of each proposal the unit stays as it is.
      const handled = [...result.applied, ...proposed.keys(), ...result.settled];
      expect(plan.steps.filter(({ key }) => !handled.includes(key))).toEqual([]);
      for (const key of proposed.keys()) {
        const id = key.slice('block:'.length);
        if (key.startsWith('block:')) expect(json(after.get(id))).toBe(json(byId(version.content).get(id)));
      }
    }),
    { numRuns: 60 },
  );
});

// contract.md T27
it("brings nothing back that was deleted, keeps what is the version's own, and keeps its order", () => {
  fc.assert(
    parsedOnce(bothSides, (drawn) => {
      const { source0, source, version } = sidesOf(drawn);
      const { result } = refresh(source, version);
      const [before, from, now, after] = [source0, source, version.content, result.content].map(byId);
      const applied = new Set<UnitKey>(result.applied);
      for (const id of after?.keys() ?? []) {
        const isNew = from?.has(id) && !before?.has(id);
        expect(now?.has(id) || isNew, id).toBe(true);
      }
      for (const id of now?.keys() ?? []) {
        const goes = before?.has(id) && !from?.has(id) && applied.has(`block:${id}`);
        expect(after?.has(id), id).toBe(!goes);
      }
      // As a save would leave it: nothing is dropped from it later, which would look like an edit.
      expect(json(dropDeadLinks(result.content.document))).toBe(json(result.content.document));
      const stayed = result.content.document.blocks.filter(({ id }) => now?.has(id)).map(({ id }) => id);
      const stay = new Set(stayed);
      expect(stayed).toEqual(
        version.content.document.blocks.map(({ id }) => id).filter((id) => stay.has(id)),
      );
      // A new block stands behind the nearest block before it in the source that is there.
      const ids = result.content.document.blocks.map(({ id }) => id);
      const order = source.document.blocks.map(({ id }) => id);
      for (const id of ids) {
        if (now?.has(id)) continue;
        const neighbour = order.slice(0, order.indexOf(id)).findLast((earlier) => ids.includes(earlier));
        expect(ids[ids.indexOf(id) - 1]).toBe(neighbour);
      }
    }),
    { numRuns: 60 },
  );
});

// contract.md T25
it('has nothing left to do after a refresh, and buys nothing twice that is proposed', () => {
  fc.assert(
    parsedOnce(bothSides, (drawn) => {
      const { source, version } = sidesOf(drawn);
      const { result } = refresh(source, version);
      const open = openAfter([], result);
      const again = refresh(
        source,
        { content: result.content, provenance: result.provenance },
        { proposed: open },
      );
      expect(again.segments).toEqual([]);
      expect(again.plan.weight).toBe(0);
      expect(again.plan.steps).toEqual([]);
    }),
    { numRuns: 60 },
  );
});

it('buys nothing again of what was proposed for an approved version and is applied later', () => {
  fc.assert(
    parsedOnce(bothSides, (drawn) => {
      const { source, version } = sidesOf(drawn);
      const proposed = refresh(source, version, { apply: 'none' });
      expect(json(proposed.result.content.document)).toBe(json(version.content.document));
      const { content, provenance } = proposed.result;
      const open = openAfter([], proposed.result);
      const later = refresh(source, { content, provenance }, { proposed: open });
      expect(later.segments).toEqual([]);
      const { result } = refresh(source, version);
      expect(withoutCopies(later.result.content)).toBe(withoutCopies(result.content));
    }),
    { numRuns: 60 },
  );
});

it('is up to date once every proposal is accepted, and once every one is rejected', () => {
  fc.assert(
    parsedOnce(bothSides, fc.boolean(), fc.constantFrom('untouched', 'none'), (drawn, accept, apply) => {
      const { source, version } = sidesOf(drawn);
      const { result } = refresh(source, version, { apply });
      let state: { content: Snapshot; provenance: Provenance } = result;
      for (const proposal of openAfter([], result)) {
        if (accept) {
          const accepted = acceptProposal(state.content, state.provenance, proposal);
          if (accepted === null) throw new Error(`${proposal.key} cannot be accepted`);
          state = accepted;
        } else {
          state = { ...state, ...rejectProposal(state.content, state.provenance, proposal) };
        }
      }
      const plan = planRefresh(source, state.content, state.provenance, {
        apply: 'untouched',
        proposed: [],
      });
      // Copies of images that no block shows any more may still go.
      expect(
        plan.steps.filter(({ key, action }) => !key.startsWith('image:') || action !== 'remove'),
      ).toEqual([]);
      if (accept) {
        const left = compare(source, state.content, state.provenance).units.filter(
          ({ state: is }) => is === 'stale',
        );
        expect(left).toEqual([]);
      } else {
        expect(json(state.content)).toBe(json(result.content));
      }
    }),
    { numRuns: 60 },
  );
});

// contract.md T26
it('proposes what a person saved while the refresh ran', () => {
  fc.assert(
    parsedOnce(bothSides, edits(3), (drawn, meanwhile) => {
      const { source, version } = sidesOf(drawn);
      const current = edit(version.content, meanwhile, 'meanwhile');
      const { result, plan } = refresh(source, version, {}, { current });
      const [planned, saved, after] = [version.content, current, result.content].map(byId);
      for (const [id, block] of saved ?? []) {
        if (!isEqual(planned?.get(id), block)) expect(json(after?.get(id))).toBe(json(block));
      }
      for (const { key, target } of plan.steps) {
        const id = key.slice('block:'.length);
        if (key.startsWith('block:') && target !== null && !saved?.has(id))
          expect(after?.has(id)).toBe(false);
      }
      // What was bought for a block is not lost.
      const kept = new Set([...result.applied, ...result.proposals.map(({ key }) => key), ...result.settled]);
      expect(plan.steps.filter(({ key, action }) => action !== 'remove' && !kept.has(key))).toEqual([]);
    }),
    { numRuns: 60 },
  );
});

// contract.md T28
it('only proposes for a version without provenance, and of an article whose ids were renewed', () => {
  fc.assert(
    parsedOnce(bothSides, fc.boolean(), (drawn, isUnmanaged) => {
      const { source, version } = sidesOf(drawn);
      const renewed = source.document.blocks.map((block) => ({ ...block, id: `new-${block.id}` }));
      const given = isUnmanaged ? source : { ...source, document: { ...source.document, blocks: renewed } };
      const from = { content: version.content, provenance: isUnmanaged ? null : version.provenance };
      const { result } = refresh(given, from);
      expect(json(result.content.document)).toBe(json(version.content.document));
      expect(result.content.title).toBe(version.content.title);
      const open = openAfter([], result);
      const again = refresh(given, result, { proposed: open });
      expect(again.segments).toEqual([]);
      expect(json(again.result.content.document)).toBe(json(version.content.document));
    }),
    { numRuns: 50 },
  );
});

// contract.md T36
it('proposes what a full version has no room for, and refuses it while that is so', () => {
  const blocks = (count: number, prefix: string): Block[] =>
    Array.from({ length: count }, (_, index) => ({ id: `${prefix}${index}`, type: 'divider' }));
  const of = (own: Block[]): Snapshot => ({ ...NOTHING, document: { version: 1, blocks: own } });
  const shared = blocks(10, 'b');
  const made = translateNew(of(shared));
  const source = of([...shared, ...blocks(1, 'new')]);
  const content = of([...shared, ...blocks(MAX_BLOCKS - shared.length, 'own')]);
  const { result } = refresh(source, { ...made, content });
  expect(result.proposals.map(({ reason }) => reason)).toEqual(['full']);
  const accepted = json(decisions(result.proposals, true));
  const [full, room] = [content, of(content.document.blocks.slice(0, -1))].map((current) =>
    decide(accepted, json(current), json(result.provenance), AT),
  );
  expect(full).toMatchObject({ ok: false, refused: [{ reason: 'full' }] });
  expect(room).toMatchObject({ ok: true, changed: { applied: ['block:new0'] } });
});

// contract.md T49
it('leaves after all decisions at once what one after the other leaves', () => {
  fc.assert(
    parsedOnce(bothSides, fc.infiniteStream(fc.boolean()), (drawn, choices) => {
      const { source, version } = sidesOf(drawn);
      const { result } = refresh(source, version, { apply: 'none' });
      const [first, ...others] = result.proposals;
      const decided = [
        ...(first ? decisions([first], true) : []),
        ...others.flatMap((proposal) => decisions([proposal], choices.next().value === true)),
      ];
      const atOnce = decide(json(decided), json(result.content), json(result.provenance), AT);
      if (!atOnce.ok) throw new Error('refused');
      let content = result.content;
      let provenance = result.provenance;
      for (const { proposal, isAccepted } of decided) {
        if (!isAccepted) ({ provenance } = rejectProposal(content, provenance, proposal));
        else {
          const accepted = acceptProposal(content, provenance, proposal);
          if (accepted === null) throw new Error(`${proposal.key} cannot be accepted`);
          ({ content, provenance } = accepted);
        }
      }
      const ids = ({ blocks }: Snapshot['document']) => blocks.map(({ id }) => id);
      const document = JSON.parse(atOnce.changed?.body.stored.json ?? json(result.content.document));
      expect(ids(document)).toEqual(ids(content.document));
      const known = JSON.parse(atOnce.decided.provenance) as Provenance;
      const after = { ...content, document };
      const states = (version: Snapshot, of: Provenance) =>
        compare(source, version, of).units.map(({ key, state }) => `${key} ${state}`);
      const noImages = (all: readonly string[]) => all.filter((unit) => !unit.startsWith('image:'));
      expect(noImages(states(after, known))).toEqual(noImages(states(content, provenance)));
    }),
    { numRuns: 60 },
  );
});

it('makes all texts of named units again, those of others never', () => {
  fc.assert(
    parsedOnce(anySource, fc.nat(1_000), (source, at) => {
      const made = translateNew(source);
      const block = source.document.blocks[at % source.document.blocks.length];
      if (block === undefined) return;
      const { segments, result, plan } = refresh(source, made, { units: [`block:${block.id}`] });
      expect(segments.map(({ text }) => text).sort()).toEqual(segmentsOf(block, []).sort());
      expect(plan.steps.map(({ key }) => key).filter((key) => key.startsWith('block:'))).toEqual([
        `block:${block.id}`,
      ]);
      expect(json(result.content.document)).toBe(json(made.content.document));
    }),
    { numRuns: 60 },
  );
});

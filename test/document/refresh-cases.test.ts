import { expect, it } from 'vitest';
import { type Block, MAX_BLOCKS } from '../../src/document/format/schema.ts';
import { planRefresh } from '../../src/document/refresh/plan.ts';
import { work } from '../../src/document/tasks/tasks.ts';
import type { Snapshot, SourceAsset } from '../../src/document/translation/source.ts';
import { type AssetId, type JobId, newId } from '../../src/ids.ts';
import { pseudoLocalize } from '../../src/providers/pseudo.ts';
import { imageOf } from './arbitraries.ts';
import {
  acceptProposal,
  copyIdsFor,
  NOTHING,
  openAfter,
  refresh,
  rejectProposal,
  translateNew,
} from './versions.ts';

const paragraph = (id: string, text = `The words of ${id}.`): Block => ({ id, type: 'paragraph', text });
const article = (blocks: readonly Block[], rest: Partial<Snapshot> = {}): Snapshot => ({
  ...NOTHING,
  title: 'A garden in spring',
  ...rest,
  document: { version: 1, blocks: [...blocks] },
});
const ids = ({ document }: Snapshot): string[] => document.blocks.map(({ id }) => id);
const six = ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => paragraph(id));
const texts = (segments: readonly { readonly text: string }[]): string[] => segments.map(({ text }) => text);

it('makes one text of a list of which one item was edited, and of a table with a new row its cells', () => {
  const list: Block = { id: 'list', type: 'list', ordered: false, items: ['one', 'two', 'three', 'four'] };
  const table: Block = { id: 'table', type: 'table', header: ['name', 'place'], rows: [['rose', 'sun']] };
  const made = translateNew(article([list, table, ...six]));
  const source = article([
    { ...list, items: ['zero', 'one', 'two', 'third', 'four'] },
    {
      ...table,
      rows: [
        ['fern', 'shade'],
        ['rose', 'sun'],
      ],
    },
    ...six,
  ]);
  const { segments, result } = refresh(source, made);
  expect(texts(segments)).toEqual(['zero', 'third', 'fern', 'shade']);
  const [items] = result.content.document.blocks;
  expect(items).toMatchObject({ items: ['zero', 'one', 'two', 'third', 'four'].map(pseudoLocalize) });
});

it('keeps what a person made of an item beside what the source changed of another, as a proposal', () => {
  const list: Block = { id: 'list', type: 'list', ordered: false, items: ['same', 'same', 'other'] };
  const made = translateNew(article([list, ...six]));
  const [written, ...rest] = made.content.document.blocks;
  if (written?.type !== 'list') throw new Error('no list');
  const edited = { ...written, items: ['mine', ...written.items.slice(1)] };
  const version = { ...made, content: article([edited, ...rest], { title: made.content.title }) };
  const { segments, result } = refresh(
    article([{ ...list, items: ['same', 'same', 'changed'] }, ...six]),
    version,
  );
  expect(texts(segments)).toEqual(['changed']);
  expect(result.applied).toEqual([]);
  const [proposal] = result.proposals;
  expect(proposal).toMatchObject({ key: 'block:list', action: 'replace', reason: 'edited' });
  const items = ['mine', pseudoLocalize('same'), pseudoLocalize('changed')];
  expect(proposal?.value).toMatchObject({ block: { items } });
});

it('does nothing about a block that moved', () => {
  const [a, ...others] = six;
  if (a === undefined) throw new Error('no block');
  const { plan } = refresh(article([...others, a]), translateNew(article(six)));
  expect(plan).toMatchObject({ steps: [], sent: 0, weight: 0 });
});

it('takes a link to another article over without making its text again', () => {
  const linked = (articleId: string): Block => ({
    ...paragraph('link', 'Read the guide.'),
    type: 'paragraph',
    text: 'Read the guide.',
    links: [{ text: 'the guide', articleId }],
  });
  const [one, other] = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'];
  const made = translateNew(article([linked(one ?? ''), ...six]));
  const { segments, result } = refresh(article([linked(other ?? ''), ...six]), made);
  expect(segments).toEqual([]);
  expect(result.content.document.blocks[0]).toMatchObject({ links: [{ articleId: other }] });
});

it('weighs a refresh of all units as a new translation of them', () => {
  const source = article(
    [
      {
        id: 'md',
        type: 'paragraph',
        text: 'See [the *guide*](https://a.example "A title") `now`.',
        format: 'markdown',
      },
      {
        id: 'image',
        type: 'image',
        assetId: '11111111-1111-4111-8111-111111111111',
        altText: 'A bed of tulips',
      },
      ...six,
    ],
    { metaTitle: 'About gardens', targetKeywords: ['garden', 'spring'] },
  );
  const counted = work('count', JSON.stringify(source.document));
  if (!counted.ok) throw new Error('not counted');
  const beside = 40 * (4 + 2 + 2);
  const { plan } = refresh(source, { content: article([]), provenance: null });
  expect(plan.weight).toBe(counted.body + counted.beside + beside);
});

it('what a person decided while the refresh ran is not decided again', () => {
  const made = translateNew(article(six));
  const source = article([paragraph('a', 'Other words.'), ...six.slice(1)]);
  const proposed = refresh(source, made, { apply: 'none' });
  const [proposal] = proposed.result.proposals;
  if (proposal === undefined) throw new Error('no proposal');
  expect(proposal.reason).toBe('asked');
  const { provenance: rejected } = rejectProposal(made.content, made.provenance, proposal);
  const { result } = refresh(source, made, {}, { provenance: rejected });
  expect(result).toMatchObject({ applied: [], proposals: [], settled: ['block:a'] });
  // A version that was approved meanwhile gets proposals alone.
  const approved = refresh(source, made, {}, { proposeAll: true });
  expect(approved.result.applied).toEqual([]);
  expect(approved.result.proposals).toMatchObject([{ key: 'block:a', reason: 'asked' }]);
});

it('a proposal is accepted only while its unit is what it was made for, and a new block finds its place', () => {
  const made = translateNew(article(six));
  const source = article([...six.slice(0, 3), paragraph('new', 'A new block.'), ...six.slice(3)]);
  const { result } = refresh(source, made, { apply: 'none' });
  const [proposal] = result.proposals;
  if (proposal === undefined) throw new Error('no proposal');
  const moved = {
    ...made.content,
    document: { version: 1 as const, blocks: made.content.document.blocks.toReversed() },
  };
  const without = {
    ...moved,
    document: { version: 1 as const, blocks: moved.document.blocks.filter(({ id }) => id !== 'c') },
  };
  expect(ids(acceptProposal(without, result.provenance, proposal)?.content ?? NOTHING)).toEqual([
    'f',
    'e',
    'd',
    'b',
    'new',
    'a',
  ]);
  const taken = article([paragraph('new', 'Mine.')]);
  // A person's own block of that id stays.
  expect(ids(acceptProposal(taken, result.provenance, proposal)?.content ?? NOTHING)).toEqual([
    'new-2',
    'new',
  ]);
  const { provenance: rejected } = rejectProposal(made.content, result.provenance, proposal);
  expect(planRefresh(source, made.content, rejected, { apply: 'untouched', proposed: [] }).steps).toEqual([]);
});

it('proposes blocks for which the version has no room', () => {
  const made = translateNew(article(six));
  const own = Array.from({ length: MAX_BLOCKS - six.length - 1 }, (_, index) =>
    paragraph(`own${index}`, '.'),
  );
  const version = { ...made, content: article([...made.content.document.blocks, ...own]) };
  const source = article([...six, paragraph('one'), paragraph('two')]);
  const { result } = refresh(source, {
    ...version,
    content: { ...version.content, title: made.content.title },
  });
  expect(result.applied).toEqual(['block:one']);
  expect(result.proposals).toMatchObject([{ key: 'block:two', reason: 'full' }]);
  expect(result.content.document.blocks).toHaveLength(MAX_BLOCKS);
});

const UUID = (digit: number): string => `${String(digit).repeat(8)}-1111-4111-8111-111111111111`;
const hero = (id: string, altText: string): SourceAsset => ({
  ...imageOf(id, altText),
  role: 'hero',
  contentHash: id,
});

it('copies a new cover in place of its untouched forerunner, and proposes it beside one of a person', () => {
  const made = translateNew(article(six, { assets: [hero(UUID(1), 'The old cover')] }));
  const source = article(six, { assets: [hero(UUID(2), 'The new cover')] });
  const [old] = made.content.assets;
  const { result } = refresh(source, made);
  expect(result.removeImages).toEqual([old?.id]);
  expect(result.addImages).toMatchObject([{ role: 'hero', altText: pseudoLocalize('The new cover') }]);
  expect(result.content.assets).toEqual(result.addImages);

  const own = { ...made, content: { ...made.content, assets: [hero(UUID(3), 'Mine')] } };
  const beside = refresh(source, own);
  expect(beside.result).toMatchObject({ applied: [], addImages: [], removeImages: [] });
  const [proposal] = beside.result.proposals;
  expect(proposal).toMatchObject({ action: 'insert', reason: 'edited', key: `image:${UUID(2)}` });
  const accepted = proposal && acceptProposal(own.content, beside.result.provenance, proposal);
  expect(accepted?.removeImages).toEqual([UUID(3)]);
  expect(accepted?.addImages).toMatchObject([{ role: 'hero', contentHash: UUID(2) }]);
  expect(openAfter([], beside.result)).toHaveLength(1);
});

it('copies a new image with the block that shows it, and removes one that nothing shows any more', () => {
  const shows = (id: string): Block => ({ id: 'image', type: 'image', assetId: id, altText: 'A bed' });
  const made = translateNew(article([shows(UUID(1)), ...six], { assets: [imageOf(UUID(1), 'old')] }));
  const source = article([shows(UUID(2)), ...six], { assets: [imageOf(UUID(2), 'new')] });
  const { result, segments } = refresh(source, made);
  // The block's own alternative text is the same.
  expect(texts(segments)).toEqual(['new']);
  expect(result.removeImages).toEqual([made.content.assets[0]?.id]);
  expect(result.content.document.blocks[0]).toMatchObject({ assetId: result.addImages[0]?.id });

  // While a person's block shows it, it stays.
  const [written, ...rest] = made.content.document.blocks;
  const mine = { ...written, id: 'mine' } as Block;
  const kept = refresh(source, {
    ...made,
    content: { ...made.content, document: { version: 1, blocks: [mine, ...rest] } },
  });
  expect(kept.result.removeImages).toEqual([]);
  expect(kept.plan.steps.filter(({ action }) => action === 'remove')).toEqual([]);
});

it('finds the items of a list again by what they say when a person took one out', () => {
  const list = (items: string[]): Block => ({ id: 'list', type: 'list', ordered: false, items });
  const made = translateNew(article([list(['one', 'two', 'three']), ...six]));
  const [written, ...rest] = made.content.document.blocks;
  if (written?.type !== 'list') throw new Error('no list');
  const blocks = [{ ...written, items: written.items.slice(1) }, ...rest];
  const version = { ...made, content: { ...made.content, document: { version: 1 as const, blocks } } };
  const { segments, result } = refresh(article([list(['one', 'two', 'changed']), ...six]), version);
  expect(texts(segments)).toEqual(['one', 'changed']);
  const items = ['one', 'two', 'changed'].map(pseudoLocalize);
  expect(result.proposals).toMatchObject([{ reason: 'edited', value: { block: { items } } }]);
});

it('leaves a link to the block of a person that has it, instead of linking twice', () => {
  const linked = (id: string): Block => ({
    id,
    type: 'paragraph',
    text: 'Read the guide.',
    links: [{ text: 'guide', articleId: UUID(1) }],
  });
  const made = translateNew(article(six));
  const blocks = [...made.content.document.blocks, linked('mine')];
  const version = { ...made, content: { ...made.content, document: { version: 1 as const, blocks } } };
  const { result } = refresh(article([{ ...linked('new'), text: 'The guide.' } as Block, ...six]), version);
  const [first] = result.content.document.blocks;
  expect(first?.id).toBe('new');
  expect(first).not.toHaveProperty('links');
  expect(result.content.document.blocks.at(-1)).toEqual(linked('mine'));
});

it('a new image whose alternative text is left comes in without a charge for it', () => {
  const made = translateNew(article(six));
  const block: Block = { id: 'image', type: 'image', assetId: newId<AssetId>(), altText: '' };
  const source = article([...six, block], { assets: [imageOf(block.assetId, 'A bed')] });
  const { plan, segments } = refresh(source, made);
  expect(texts(segments)).toEqual(['A bed']);
  const [{ key = '' } = {}] = segments;
  const [version, known] = [made.content, made.provenance].map((part) => JSON.stringify(part));
  const copyIds = copyIdsFor(plan.copies);
  const applied = work(
    'applyPlan',
    JSON.stringify(plan),
    '{}',
    version ?? '',
    known ?? null,
    new Map([[key, null]]),
    new Set([key]),
    copyIds,
    false,
    { jobId: newId<JobId>(), at: '2026-11-23T05:00:00.000Z' },
  );
  if (!applied.ok) throw new Error(applied.problem);
  expect(applied.changed.applied).toContain(`image:${block.assetId}`);
  expect(applied.delivered).toEqual({ sent: 0, weight: 0 });
});

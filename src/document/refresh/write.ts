/** Writes units into a version. */
import type { AssetId } from '../../ids.ts';
import { claim, placeLinks } from '../format/links.ts';
import type { Block, DocumentJson } from '../format/schema.ts';
import type { Snapshot, SourceAsset } from '../translation/source.ts';
import { boundPast, succeed } from './past.ts';
import { blockKeys } from './states.ts';
import type { Provenance, RefreshResult, UnitKey, UnitProvenance, UnitValue } from './types.ts';
import { blockKey, type Unit, unitsOf, writtenUnit } from './units.ts';

/** A unit's new value and its source; null removes it. An image has the version's id, a block the source's. */
export type Change =
  | {
      readonly value: UnitValue;
      readonly source: string;
      readonly texts: readonly string[];
      /** The source's unit. */
      readonly from: UnitValue | null;
    }
  | { readonly value: null };
export type Changes = ReadonlyMap<UnitKey, Change>;

export type Written = Omit<RefreshResult, 'applied' | 'proposals' | 'settled'>;

/** The version's units by key, without a person's own blocks; `images` maps the ids of images. */
export function unitsOfVersion(
  version: Snapshot,
  provenance: Provenance | null,
  images: Iterable<readonly [UnitKey, AssetId]>,
): Map<UnitKey, Unit> {
  const keys = new Map([...images].map(([key, id]) => [id, key]));
  return unitsOf(version, (id) => keys.get(id), blockKeys(provenance));
}

export const imagesKnown = (provenance: Provenance): [UnitKey, AssetId][] =>
  provenance.flatMap(({ key, assetId }) => (assetId === undefined ? [] : [[key, assetId]]));

/**
 * The changed version and its provenance. Order is kept; a new block goes after the nearest preceding block in `order`
 * that exists, or first. Other blocks stay byte for byte the same.
 * @param there the version's units
 */
export function writeUnits(
  version: Snapshot,
  provenance: Provenance,
  there: ReadonlyMap<UnitKey, Unit>,
  changes: Changes,
  order: readonly UnitKey[],
): Written {
  const known = new Map(provenance.map((unit) => [unit.key, unit]));
  const ids = idsOfBlocks(version.document, provenance, changes);
  const document = writeBlocks(version.document, changes, order, ids);
  const { assets, ...images } = writeImages(version.assets, document, changes, known);
  const content: Snapshot = { ...writeFields(version, changes), document, assets };
  const blocks = unitsOf(content);
  for (const [key, change] of changes) {
    if (change.value === null) known.delete(key);
    else {
      const id = ids.get(key);
      const block = id === undefined ? undefined : blocks.get(blockKey(id))?.value;
      const after = writtenUnit(key, { hash: change.source, texts: change.texts }, block ?? change.value);
      known.set(key, succeed(known.get(key), there.get(key), after));
    }
  }
  const listed = new Set(order);
  const sorted = [...order, ...[...known.keys()].filter((key) => !listed.has(key))];
  return {
    content,
    provenance: boundPast(sorted.flatMap((key) => known.get(key) ?? [])),
    sources: [...changes].map(([key, change]) => [key, change.value === null ? null : change.from]),
    ...images,
  };
}

/** The version's ids of known and changed blocks: a new block gets a free one (contract.md T42). */
function idsOfBlocks(document: DocumentJson, provenance: Provenance, changes: Changes): Map<UnitKey, string> {
  const there = new Set(document.blocks.map(({ id }) => id));
  const ids = new Map<UnitKey, string>();
  // Also the ids of blocks that a person has removed: a revision may bring them back.
  const taken = new Set(there);
  for (const { key, blockId } of provenance) {
    if (blockId === undefined) continue;
    taken.add(blockId);
    if (there.has(blockId) || changes.has(key)) ids.set(key, blockId);
  }
  for (const [key, { value }] of changes) {
    if (value?.type !== 'block' || ids.has(key)) continue;
    const id = freeId(value.block.id, taken);
    taken.add(id);
    ids.set(key, id);
  }
  return ids;
}

/** Characters of a block's id. */
const MAX_ID = 64;

function freeId(wanted: string, taken: ReadonlySet<string>): string {
  let id = wanted;
  for (let count = 2; taken.has(id); count += 1) {
    const suffix = `-${count}`;
    id = `${[...wanted].slice(0, MAX_ID - suffix.length).join('')}${suffix}`;
  }
  return id;
}

function writeFields(version: Snapshot, changes: Changes): Omit<Snapshot, 'document' | 'assets'> {
  const text = (key: UnitKey, before: string | null): string | null => {
    const value = changes.get(key)?.value;
    return value?.type === 'text' ? value.text : before;
  };
  const texts = (key: UnitKey, before: readonly string[]): readonly string[] => {
    const value = changes.get(key)?.value;
    return value?.type === 'texts' ? value.texts : before;
  };
  return {
    title: text('title', version.title) ?? version.title,
    metaTitle: text('metaTitle', version.metaTitle),
    metaDescription: text('metaDescription', version.metaDescription),
    targetKeywords: texts('targetKeywords', version.targetKeywords),
    secondaryKeywords: texts('secondaryKeywords', version.secondaryKeywords),
  };
}

function writeBlocks(
  document: DocumentJson,
  changes: Changes,
  order: readonly UnitKey[],
  ids: ReadonlyMap<UnitKey, string>,
): DocumentJson {
  const changed = new Map<string, Block | null>();
  for (const [key, { value }] of changes) {
    const id = ids.get(key);
    if (id === undefined) continue;
    if (value === null) changed.set(id, null);
    else if (value.type === 'block') changed.set(id, { ...value.block, id });
  }
  const stay = document.blocks.filter(({ id }) => changed.get(id) !== null);
  const there = new Set(stay.map(({ id }) => id));
  const insertedBehind = new Map<string | null, Block>();
  let last: string | null = null;
  for (const key of order) {
    const id = ids.get(key);
    if (id === undefined) continue;
    const block = there.has(id) ? undefined : changed.get(id);
    if (block) insertedBehind.set(last, block);
    if (block || there.has(id)) last = id;
  }
  const blocks: Block[] = [];
  const addInserted = (behind: string | null): void => {
    let block = insertedBehind.get(behind);
    while (block !== undefined) {
      blocks.push(block);
      block = insertedBehind.get(block.id);
    }
  };
  addInserted(null);
  for (const block of stay) {
    blocks.push(changed.get(block.id) ?? block);
    addInserted(block.id);
  }
  return { version: 1, blocks: dropDoubleLinks(blocks, changed) };
}

const linksOf = (block: Block) =>
  (block.type === 'paragraph' || block.type === 'quote') && block.format !== 'markdown'
    ? block.links
    : undefined;

/** Keeps the first link to an article (contract.md F4); links of unwritten blocks take precedence. */
function dropDoubleLinks(blocks: readonly Block[], written: ReadonlyMap<string, unknown>): Block[] {
  const isWritten = ({ id }: Block) => written.has(id);
  const claimed = new Set(
    blocks.flatMap((block) =>
      isWritten(block) ? [] : (linksOf(block) ?? []).map(({ articleId }) => articleId),
    ),
  );
  return blocks.map((block) => {
    const links = linksOf(block);
    if (links === undefined || !isWritten(block) || !('text' in block)) return block;
    const placed = placeLinks(block.text, links).flatMap(({ link }) =>
      claim(claimed, link.articleId) ? link : [],
    );
    const { links: _, ...bare } = block as Extract<Block, { type: 'paragraph' | 'quote' }>;
    return placed.length > 0 ? { ...bare, links: placed } : bare;
  });
}

type ImageChanges = Pick<RefreshResult, 'addImages' | 'altTexts' | 'replaceImages' | 'removeImages'>;

/** An image shown in the body is not removed; a new cover replaces the existing one, the first of several. */
function writeImages(
  before: readonly SourceAsset[],
  document: DocumentJson,
  changes: Changes,
  known: ReadonlyMap<UnitKey, UnitProvenance>,
): ImageChanges & { readonly assets: readonly SourceAsset[] } {
  const shown = new Set<string>(
    document.blocks.flatMap((block) => (block.type === 'image' ? block.assetId : [])),
  );
  const written = new Map<AssetId, SourceAsset>();
  const going = new Set<AssetId>();
  for (const [key, { value }] of changes) {
    const id = known.get(key)?.assetId;
    if (value?.type === 'image') written.set(value.image.id, value.image);
    if (value === null && id !== undefined && !shown.has(id)) going.add(id);
  }
  const there = new Set(before.map(({ id }) => id));
  const added = [...written.values()].filter(({ id }) => !there.has(id));
  const cover = added.find(({ role }) => role === 'hero');
  const addImages = added.filter((image) => image.role !== 'hero' || image === cover);
  if (cover !== undefined) {
    for (const { id, role } of before) if (role === 'hero') going.add(id);
  }
  const removeImages = before.flatMap(({ id }) => (going.has(id) ? id : []));
  const staying = before.filter(({ id }) => !going.has(id));
  const stay = staying.map((image) => written.get(image.id) ?? image);
  const replaceImages = staying.flatMap(({ id, contentHash: replaces }) => {
    const image = written.get(id);
    return image === undefined || image.contentHash === replaces ? [] : [{ image, replaces }];
  });
  const altTexts = stay.flatMap(({ id }) => {
    const image = written.get(id);
    return image === undefined ? [] : [[id, image.altText] as const];
  });
  return { assets: [...stay, ...addImages], addImages, altTexts, replaceImages, removeImages };
}

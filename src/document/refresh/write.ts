/** Writes units into a version. */
import type { AssetId } from '../../ids.ts';
import { claim, placeLinks } from '../format/links.ts';
import type { Block, DocumentJson } from '../format/schema.ts';
import type { Snapshot, SourceAsset } from '../translation/source.ts';
import type { Provenance, RefreshResult, UnitKey, UnitProvenance, UnitValue } from './types.ts';
import { blockKey, type Unit, unitsOf, writtenUnit } from './units.ts';

/** A unit's new value and its source; null removes it. An image has the version's id. */
export type Change =
  | { readonly value: UnitValue; readonly source: string; readonly texts: readonly string[] }
  | { readonly value: null };
export type Changes = ReadonlyMap<UnitKey, Change>;

export type Written = Omit<RefreshResult, 'applied' | 'proposals' | 'settled'>;

/** The version's units by key; `images` maps their ids. */
export function unitsOfVersion(
  version: Snapshot,
  images: Iterable<readonly [UnitKey, AssetId]>,
): Map<UnitKey, Unit> {
  const keys = new Map([...images].map(([key, id]) => [id, key]));
  return unitsOf(version, (id) => keys.get(id));
}

export const imagesKnown = (provenance: Provenance): [UnitKey, AssetId][] =>
  provenance.flatMap(({ key, assetId }) => (assetId === undefined ? [] : [[key, assetId]]));

/**
 * The changed version and its provenance. Order is kept; a new block goes after the nearest preceding block in `order`
 * that exists, or first. Other blocks stay byte for byte the same.
 */
export function writeUnits(
  version: Snapshot,
  provenance: Provenance,
  changes: Changes,
  order: readonly UnitKey[],
): Written {
  const known = new Map(provenance.map((unit) => [unit.key, unit]));
  const document = writeBlocks(version.document, changes, order);
  const { assets, ...images } = writeImages(version.assets, document, changes, known);
  const content: Snapshot = { ...writeFields(version, changes), document, assets };
  const units = unitsOf(content);
  for (const [key, change] of changes) {
    if (change.value === null) known.delete(key);
    else {
      const value = change.value.type === 'block' ? (units.get(key)?.value ?? change.value) : change.value;
      known.set(key, writtenUnit(key, { hash: change.source, texts: change.texts }, value));
    }
  }
  const listed = new Set(order);
  const sorted = [...order, ...[...known.keys()].filter((key) => !listed.has(key))];
  return { content, provenance: sorted.flatMap((key) => known.get(key) ?? []), ...images };
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

function writeBlocks(document: DocumentJson, changes: Changes, order: readonly UnitKey[]): DocumentJson {
  const changed = (key: UnitKey): Block | null | undefined => {
    const value = changes.get(key)?.value;
    return value?.type === 'block' ? value.block : value === null ? null : undefined;
  };
  const stay = document.blocks.filter(({ id }) => changed(blockKey(id)) !== null);
  const there = new Set(stay.map(({ id }) => blockKey(id)));
  const insertedBehind = new Map<UnitKey | null, Block>();
  let last: UnitKey | null = null;
  for (const key of order) {
    const block = there.has(key) ? undefined : changed(key);
    if (block) insertedBehind.set(last, block);
    if (block || there.has(key)) last = key;
  }
  const blocks: Block[] = [];
  const addInserted = (behind: UnitKey | null): void => {
    let block = insertedBehind.get(behind);
    while (block !== undefined) {
      blocks.push(block);
      block = insertedBehind.get(blockKey(block.id));
    }
  };
  addInserted(null);
  for (const block of stay) {
    const key = blockKey(block.id);
    blocks.push(changed(key) ?? block);
    addInserted(key);
  }
  return { version: 1, blocks: dropDoubleLinks(blocks, changes) };
}

const linksOf = (block: Block) =>
  (block.type === 'paragraph' || block.type === 'quote') && block.format !== 'markdown'
    ? block.links
    : undefined;

/** Keeps the first link to an article (contract.md F4); links of unwritten blocks take precedence. */
function dropDoubleLinks(blocks: readonly Block[], changes: Changes): Block[] {
  const isWritten = ({ id }: Block) => changes.has(blockKey(id));
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

type ImageChanges = Pick<RefreshResult, 'addImages' | 'altTexts' | 'removeImages'>;

/** An image shown in the body is not removed; a new cover replaces the existing one. */
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
  const addImages = [...written.values()].filter(({ id }) => !there.has(id));
  if (addImages.some(({ role }) => role === 'hero')) {
    for (const { id, role } of before) if (role === 'hero') going.add(id);
  }
  const removeImages = before.flatMap(({ id }) => (going.has(id) ? id : []));
  const stay = before.filter(({ id }) => !going.has(id)).map((image) => written.get(image.id) ?? image);
  const altTexts = stay.flatMap(({ id }) => {
    const image = written.get(id);
    return image === undefined ? [] : [[id, image.altText] as const];
  });
  return { assets: [...stay, ...addImages], addImages, altTexts, removeImages };
}

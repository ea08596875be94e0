/** Makes an article the version of a source that it was not translated from here. */
import type { AssetId } from '../../ids.ts';
import type { Snapshot, SourceAsset } from '../translation/source.ts';
import { type Marked, retain } from './decide.ts';
import { pairBlocks } from './pair-blocks.ts';
import { boundPast } from './past.ts';
import { adopt, type Compared, compare } from './states.ts';
import type { Provenance, UnitKey, UnitProvenance } from './types.ts';
import {
  blockKey,
  fieldsOf,
  fieldUnits,
  hashesOf,
  imageKey,
  type Unit,
  unitsOf,
  writtenUnit,
} from './units.ts';

/** A unit of the source and the unit of the version that says the same, each by its own side's ids. */
export interface UnitPair {
  readonly source: UnitKey;
  readonly version: UnitKey;
}

/** How the units of two articles belong together. */
export interface Pairing {
  readonly pairs: readonly UnitPair[];
  readonly onlyInSource: readonly UnitKey[];
  readonly onlyInVersion: readonly UnitKey[];
  /** Each pair as a person's text for an unknown source. */
  readonly provenance: Provenance;
}

/** Pairs fields by name, blocks in order (contract.md T67), and images by their blocks, as covers, and by their bytes. */
export function pairSides(source: Snapshot, version: Snapshot): Pairing {
  const from = unitsOf(source);
  const to = unitsOf(version);
  const paired = new Map<UnitKey, UnitKey>();
  for (const [key] of fieldUnits(source)) paired.set(key, key);
  const blocks = pairBlocks(source, version);
  for (const [place, other] of blocks) {
    const [one, two] = [source.document.blocks[place], version.document.blocks[other]];
    if (one && two) paired.set(blockKey(one.id), blockKey(two.id));
  }
  for (const [one, two] of pairImages(source, version, blocks)) paired.set(imageKey(one), imageKey(two));
  const provenance = [...from].flatMap(([key, unit]) => {
    const other = paired.get(key);
    const there = other && to.get(other);
    return there === undefined ? [] : attachedUnit(key, unit, there);
  });
  const said = (units: ReadonlyMap<UnitKey, Unit>) =>
    new Set([...units.keys()].filter((key) => isSaid(key, units)));
  const [inSource, inVersion] = [said(from), said(to)];
  const pairs = [...paired].flatMap(([one, two]) =>
    inSource.has(one) && inVersion.has(two) ? { source: one, version: two } : [],
  );
  const taken = {
    source: new Set(pairs.map((pair) => pair.source)),
    version: new Set(pairs.map((pair) => pair.version)),
  };
  return {
    pairs,
    onlyInSource: [...inSource].filter((key) => !taken.source.has(key)),
    onlyInVersion: [...inVersion].filter((key) => !taken.version.has(key)),
    provenance,
  };
}

/** False for a field that is empty. */
function isSaid(key: UnitKey, units: ReadonlyMap<UnitKey, Unit>): boolean {
  const value = units.get(key)?.value;
  return (
    value?.type === 'block' ||
    value?.type === 'image' ||
    (value !== undefined && fieldsOf(key, value).length > 0)
  );
}

function pairImages(
  source: Snapshot,
  version: Snapshot,
  blocks: readonly (readonly [number, number])[],
): Map<AssetId, AssetId> {
  const left = new Map<string, SourceAsset>(source.assets.map((image) => [image.id, image]));
  const free = new Map<string, SourceAsset>(version.assets.map((image) => [image.id, image]));
  const pairs = new Map<AssetId, AssetId>();
  const pair = (one: SourceAsset | undefined, other: SourceAsset | undefined): void => {
    if (one === undefined || other === undefined) return;
    if (left.delete(one.id) && free.delete(other.id)) pairs.set(one.id, other.id);
  };
  for (const [place, other] of blocks) {
    const [one, two] = [source.document.blocks[place], version.document.blocks[other]];
    if (one?.type !== 'image' || two?.type !== 'image') continue;
    const [shown, there] = [left.get(one.assetId), free.get(two.assetId)];
    if (shown && there) pair(shown, there);
  }
  const isCover = ({ role }: SourceAsset): boolean => role === 'hero';
  pair([...left.values()].find(isCover), [...free.values()].find(isCover));
  const byBytes = Map.groupBy(free.values(), ({ role, contentHash }) => `${role} ${contentHash}`);
  for (const image of [...left.values()]) {
    const [same] = byBytes.get(`${image.role} ${image.contentHash}`)?.splice(0, 1) ?? [];
    pair(image, same);
  }
  return pairs;
}

/**
 * What is kept of a pair: a person's text, written for a source that is not known. Where the source has no words, there is
 * nothing to be translated.
 */
function attachedUnit(key: UnitKey, source: Unit, there: Unit): UnitProvenance {
  const { value } = source;
  const fields = fieldsOf(key, value);
  const isCode = value.type === 'block' && value.block.type === 'code';
  const isWordless = !isCode && fields.every(({ text }) => text === '');
  const hashes = isWordless ? { hash: source.hash, texts: hashesOf(fields) } : { hash: '', texts: [] };
  return { ...writtenUnit(key, hashes, there.value), byPerson: true };
}

/** True for a pair of which nobody has said yet that it is one of text and translation. */
export const isUnconfirmed = ({ version, known }: Compared): boolean =>
  version !== undefined && known?.source === '' && known.byPerson === true;

/** Pairs that a person has named, and what is kept about them. */
export interface MarkedPairs extends Marked {
  /** Units of the source whose block or image belongs to another one from now on. */
  readonly displaced: readonly UnitKey[];
  /** The first pair with a unit that its side does not have. */
  readonly unknown: { readonly index: number; readonly side: keyof UnitPair } | null;
}

/**
 * Makes what stands in the version a person's translation of the present source, for pairs of units whatever was paired
 * before (contract.md T71).
 * @param pairs each unit at most once
 */
export function markPairs(
  source: Snapshot,
  version: Snapshot,
  provenance: Provenance | null,
  pairs: readonly UnitPair[],
  at: string,
): MarkedPairs {
  const [from, to] = [unitsOf(source), unitsOf(version)];
  const before = provenance ?? compare(source, version, null).units.flatMap(adopt);
  const known = new Map(before.map((unit) => [unit.key, unit]));
  const owners = new Map(pairs.map((pair) => [pair.version, pair.source]));
  const displaced = before.flatMap((unit) => {
    const owner = owners.get(unitInVersion(unit));
    return owner === undefined || owner === unit.key ? [] : unit.key;
  });
  for (const key of displaced) known.delete(key);
  let unknown: MarkedPairs['unknown'] = null;
  for (const [index, pair] of pairs.entries()) {
    const [unit, there] = [from.get(pair.source), to.get(pair.version)];
    if (unit === undefined || there === undefined) {
      unknown ??= { index, side: unit === undefined ? 'source' : 'version' };
      continue;
    }
    const was = known.get(pair.source);
    if (was !== undefined && unitInVersion(was) !== pair.version) known.delete(pair.source);
    const hashes = { hash: unit.hash, texts: hashesOf(fieldsOf(pair.source, unit.value)) };
    retain(known, { key: pair.source, from: hashes, there, at, byPerson: true });
  }
  const order = new Set([...from.keys(), ...known.keys()]);
  const keys = pairs.map((pair) => pair.source);
  const marked = new Set(keys);
  const lost = displaced.filter((key) => !marked.has(key));
  return {
    keys,
    displaced: lost,
    unknown,
    provenance: boundPast([...order].flatMap((key) => known.get(key) ?? [])),
    sources: [
      ...lost.map((key) => [key, null] as const),
      ...keys.map((key) => [key, from.get(key)?.value ?? null] as const),
    ],
  };
}

/** A unit by the version's ids. */
function unitInVersion({ key, blockId, assetId }: UnitProvenance): UnitKey {
  if (blockId !== undefined) return blockKey(blockId);
  return assetId === undefined ? key : imageKey(assetId);
}

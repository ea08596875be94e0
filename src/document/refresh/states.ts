/** Compares a version with its source. */
import type { AssetId } from '../../ids.ts';
import type { Snapshot } from '../translation/source.ts';
import { isOfPerson, judge, pairOf } from './past.ts';
import {
  META_UNITS,
  type Provenance,
  type StateCounts,
  UNIT_STATES,
  type UnitKey,
  type UnitProvenance,
  type UnitState,
} from './types.ts';
import {
  absentUnit,
  blockKey,
  fieldsOf,
  hashesOf,
  idOf,
  imageKey,
  placesIn,
  type Unit,
  unitsOf,
  unknownUnit,
} from './units.ts';

/** One unit of the source and the version, with its provenance. */
export interface Compared {
  readonly key: UnitKey;
  readonly source: Unit | undefined;
  readonly version: Unit | undefined;
  readonly known: UnitProvenance | undefined;
  /** Undefined for a unit that a person removed from the version. */
  readonly state: UnitState | undefined;
  /** True when the version's unit has a person's words or structure. */
  readonly byPerson: boolean;
}

export interface Comparison {
  /** The source's units in order, then those that only the version still has, in order. A person's own are in neither. */
  readonly units: readonly Compared[];
  /** The key of a block of the version; undefined for a person's own. */
  readonly keyOfBlock: (id: string) => UnitKey | undefined;
  /** The version's image ids by the source's. */
  readonly assetIds: ReadonlyMap<string, AssetId>;
}

/**
 * Compares the two. `provenance` is null for a version without one.
 * @param from the source's units, computed once when comparing many versions
 */
export function compare(
  source: Snapshot,
  version: Snapshot,
  provenance: Provenance | null,
  from = unitsOf(source),
): Comparison {
  const known = new Map((provenance ?? []).map((unit) => [unit.key, unit]));
  const assetIds = pairImages(source, version, known);
  const keys = new Map([...assetIds].map(([sourceId, id]) => [id, imageKey(sourceId)]));
  const keyOfBlock = blockKeys(provenance);
  const to = unitsOf(version, (id) => keys.get(id), keyOfBlock);
  const units = [...new Set([...from.keys(), ...to.keys()])].map((key) => {
    const unit = { key, source: from.get(key), version: to.get(key), known: known.get(key) };
    return { ...unit, ...stateOf(unit) };
  });
  return { units, keyOfBlock, assetIds };
}

/** Looks up the key of a block of the version. Without provenance, blocks of both sides are paired by their ids. */
export function blockKeys(provenance: Provenance | null): (id: string) => UnitKey | undefined {
  if (provenance === null) return blockKey;
  const keys = new Map(
    provenance.flatMap(({ key, blockId }) => (blockId === undefined ? [] : [[blockId, key] as const])),
  );
  return (id) => keys.get(id);
}

/** The keys of the units of both sides. */
export function unitNames(source: Snapshot, version: Snapshot, provenance: Provenance | null): Set<string> {
  const keyOfBlock = blockKeys(provenance);
  const images = new Set(version.assets.map(({ id }) => id));
  return new Set<string>([
    ...META_UNITS,
    ...source.document.blocks.map(({ id }) => blockKey(id)),
    ...source.assets.map(({ id }) => imageKey(id)),
    ...version.document.blocks.flatMap(({ id }) => keyOfBlock(id) ?? []),
    ...(provenance ?? []).flatMap(({ key, assetId }) => (assetId && images.has(assetId) ? key : [])),
  ]);
}

/** Pairs images with their copies: by provenance, or by equal bytes in a version without one. */
function pairImages(
  source: Snapshot,
  version: Snapshot,
  known: ReadonlyMap<UnitKey, UnitProvenance>,
): Map<string, AssetId> {
  const free = new Map(version.assets.map((image) => [image.id, image]));
  const pairs = new Map<string, AssetId>();
  for (const { key, assetId } of known.values()) {
    if (assetId !== undefined && free.delete(assetId)) pairs.set(idOf(key), assetId);
  }
  for (const { id, role, contentHash } of source.assets) {
    if (known.has(imageKey(id))) continue;
    const same = [...free.values()].find((image) => image.role === role && image.contentHash === contentHash);
    if (same === undefined) continue;
    free.delete(same.id);
    pairs.set(id, same.id);
  }
  return pairs;
}

function stateOf({
  key,
  source,
  version,
  known,
}: Pick<Compared, 'key' | 'source' | 'version' | 'known'>): Pick<Compared, 'state' | 'byPerson'> {
  if (version === undefined) return { state: known === undefined ? 'new' : undefined, byPerson: false };
  if (source === undefined) {
    const byPerson = known === undefined || isOfPerson(known, version);
    return { state: known?.target == null ? undefined : 'gone', byPerson };
  }
  return judge(known ?? unknownUnit(key, version.value), version, source);
}

/** The provenance of a unit of a version without provenance. */
export function adopt({ key, source, version }: Compared): UnitProvenance[] {
  if (source === undefined) return [];
  if (version !== undefined) return [unknownUnit(key, version.value)];
  return [absentUnit(key, { hash: source.hash, texts: hashesOf(fieldsOf(key, source.value)) })];
}

/** The author of the version's current content; null where unknown. */
export interface UnitWriter {
  readonly kind: 'job' | 'person';
  readonly jobId: string | null;
  readonly at: string | null;
}

/** A unit of a version as editors see it. */
export interface ListedUnit {
  readonly unit: UnitKey;
  /** The version's block; null when it has none. */
  readonly blockId: string | null;
  /** The version's image; null when it has none. */
  readonly assetId: string | null;
  /** JSON pointer into the version as it is read; null when it does not have the unit. Images have none. */
  readonly path: string | null;
  readonly state: UnitState;
  readonly writtenBy: UnitWriter | null;
}

/** The units that have a state: those of `countStates`, in the order of the source. */
export function listUnits(source: Snapshot, version: Snapshot, provenance: Provenance): ListedUnit[] {
  const placeOf = placesIn(version);
  return compare(source, version, provenance).units.flatMap((unit): ListedUnit[] => {
    const { key, state, version: there } = unit;
    if (state === undefined) return [];
    const value = there?.value;
    const block = value?.type === 'block' ? value.block : undefined;
    const isField = value?.type === 'text' || value?.type === 'texts';
    return [
      {
        unit: key,
        blockId: block?.id ?? null,
        assetId: value?.type === 'image' ? value.image.id : null,
        path: block ? `/documentJson/blocks/${placeOf(blockKey(block.id))}` : isField ? `/${key}` : null,
        state,
        writtenBy: writerOf(unit),
      },
    ];
  });
}

function writerOf({ version, known, byPerson }: Compared): UnitWriter | null {
  if (version === undefined || known === undefined) return null;
  if (known.target === version.hash && known.wrote !== undefined) {
    const { jobId, at } = known.wrote;
    return { kind: jobId === null ? 'person' : 'job', jobId, at };
  }
  const pair = pairOf(known, version.hash);
  const kind = (pair === undefined ? byPerson : pair.byPerson) ? 'person' : 'job';
  return known.target === '' ? null : { kind, jobId: null, at: null };
}

/** Counts a version's units (fields outside the body, blocks, images) by state. */
export function countStates(...compared: Parameters<typeof compare>): StateCounts {
  const counts = Object.fromEntries(UNIT_STATES.map((state) => [state, 0])) as StateCounts;
  for (const { state } of compare(...compared).units) if (state !== undefined) counts[state] += 1;
  return counts;
}

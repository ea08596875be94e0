/** Compares a version with its source. */
import type { AssetId } from '../../ids.ts';
import type { Snapshot } from '../translation/source.ts';
import {
  type Provenance,
  type StateCounts,
  UNIT_STATES,
  type UnitKey,
  type UnitProvenance,
  type UnitState,
} from './types.ts';
import { fieldsOf, idOf, imageKey, type Unit, unitsOf } from './units.ts';

/** One unit of the source and the version, with its provenance. */
export interface Compared {
  readonly key: UnitKey;
  readonly source: Unit | undefined;
  readonly version: Unit | undefined;
  readonly known: UnitProvenance | undefined;
  /** Undefined for a unit that a person removed from the version, or that only the version ever had. */
  readonly state: UnitState | undefined;
}

export interface Comparison {
  /** The source's units in order, then the version's own, in order. */
  readonly units: readonly Compared[];
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
  const to = unitsOf(version, (id) => keys.get(id));
  const units = [...new Set([...from.keys(), ...to.keys()])].map((key) => {
    const unit = { key, source: from.get(key), version: to.get(key), known: known.get(key) };
    return { ...unit, state: stateOf(unit) };
  });
  return { units, assetIds };
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

function stateOf({ key, source, version, known }: Omit<Compared, 'state'>): UnitState | undefined {
  if (version === undefined) return known === undefined ? 'new' : undefined;
  if (source === undefined) return known?.target == null ? undefined : 'gone';
  if (known === undefined) {
    // Code and dividers are the same in every language.
    const same = source.hash === version.hash && fieldsOf(key, source.value).length === 0;
    return same ? 'current' : 'editedAndStale';
  }
  const edited = version.hash !== known.target;
  if (source.hash === known.source) return edited ? 'edited' : 'current';
  return edited ? 'editedAndStale' : 'stale';
}

/** Counts a version's units (fields outside the body, blocks, images) by state. */
export function countStates(...compared: Parameters<typeof compare>): StateCounts {
  const counts = Object.fromEntries(UNIT_STATES.map((state) => [state, 0])) as StateCounts;
  for (const { state } of compare(...compared).units) if (state !== undefined) counts[state] += 1;
  return counts;
}

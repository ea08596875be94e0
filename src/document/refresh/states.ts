/** A version compared with its source. */
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

/** One unit on both sides, and what is known of it. */
export interface Compared {
  readonly key: UnitKey;
  readonly source: Unit | undefined;
  readonly version: Unit | undefined;
  readonly known: UnitProvenance | undefined;
  /** Undefined for a unit that a person took out of the version, and for one of the version's own. */
  readonly state: UnitState | undefined;
}

export interface Comparison {
  /** Every unit of the source in its order, then those that the version alone has, in its order. */
  readonly units: readonly Compared[];
  /** The version's images by the source's. */
  readonly assetIds: ReadonlyMap<string, AssetId>;
}

/**
 * Compares the two; `provenance` is null for a version that has none.
 * @param from the source's units, for who compares it with many
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

/** Copies are known; in a version without provenance an image with the same bytes is taken for one. */
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

/** How many units of a version are in each state: fields outside the body, blocks and images. */
export function countStates(...compared: Parameters<typeof compare>): StateCounts {
  const counts = Object.fromEntries(UNIT_STATES.map((state) => [state, 0])) as StateCounts;
  for (const { state } of compare(...compared).units) if (state !== undefined) counts[state] += 1;
  return counts;
}

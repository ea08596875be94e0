/** Applies a person's decision about a proposal. */
import { type AssetId, newId } from '../../ids.ts';
import type { Snapshot } from '../translation/source.ts';
import type { Proposal, Provenance, RefreshResult, UnitKey, UnitProvenance } from './types.ts';
import { absentUnit, blockKey, fieldsOf, hashesOf, type Unit } from './units.ts';
import { type Change, imagesKnown, unitsOfVersion, writeUnits } from './write.ts';

/** The version after a proposal is accepted (images: see `RefreshResult`); null when its unit has changed since. */
export function acceptProposal(
  current: Snapshot,
  provenance: Provenance | null,
  proposal: Proposal,
): Omit<RefreshResult, 'proposals' | 'settled'> | null {
  const { key, source, target, value } = proposal;
  const known = provenance ?? [];
  const there = unitNow(current, known, proposal);
  if ((there?.hash ?? null) !== target) return null;
  const isCopied = value?.type === 'image' && there === undefined;
  const change: Change =
    value === null || source === null
      ? { value: null }
      : {
          value: isCopied ? { type: 'image', image: { ...value.image, id: newId<AssetId>() } } : value,
          source,
          texts: proposal.provenance?.texts ?? [],
        };
  const order = withUnit(known, key, proposal.behind, current);
  return { ...writeUnits(current, known, new Map([[key, change]]), order), applied: [key] };
}

/** The provenance after a proposal is rejected: its unit counts as current for the proposal's source. */
export function rejectProposal(
  current: Snapshot,
  provenance: Provenance | null,
  proposal: Proposal,
): Provenance {
  const { key, source } = proposal;
  const known = provenance ?? [];
  const before = known.find((unit) => unit.key === key);
  const there = unitNow(current, known, proposal);
  const others = known.filter((unit) => unit !== before);
  // A unit removed from the source that a person keeps belongs to the version alone.
  if (source === null) return others;
  const from = { hash: source, texts: proposal.provenance?.texts ?? [] };
  const after = there === undefined ? absentUnit(key, from) : retainedUnit(key, from, there, before);
  return before === undefined ? [...known, after] : known.map((unit) => (unit === before ? after : unit));
}

/** Marks an unchanged unit as current for a new source. Its texts map to the source's only if their number is equal. */
function retainedUnit(
  key: UnitKey,
  { hash, texts }: { readonly hash: string; readonly texts: readonly string[] },
  there: Unit,
  before: UnitProvenance | undefined,
): UnitProvenance {
  const fields = fieldsOf(key, there.value);
  const alike = fields.length === texts.length;
  return {
    key,
    source: hash,
    target: before?.target ?? null,
    texts: alike ? texts : (before?.texts ?? []),
    written: alike ? hashesOf(fields) : (before?.written ?? []),
    ...(there.value.type === 'image' ? { assetId: there.value.image.id } : {}),
  };
}

/** The unit of a proposal. Without provenance, an image is known only from the proposal. */
function unitNow(current: Snapshot, known: Provenance, { key, value }: Proposal): Unit | undefined {
  const image: [UnitKey, AssetId][] = value?.type === 'image' ? [[key, value.image.id]] : [];
  return unitsOfVersion(current, [...imagesKnown(known), ...image]).get(key);
}

/** The known units in order, with this one after its nearest neighbour in the version. */
function withUnit(known: Provenance, key: UnitKey, behind: readonly string[], current: Snapshot): UnitKey[] {
  const order = known.map((unit) => unit.key);
  const there = new Set(current.document.blocks.map(({ id }) => blockKey(id)));
  if (there.has(key) || !key.startsWith('block:')) return order.includes(key) ? order : [...order, key];
  const others = order.filter((unit) => unit !== key);
  const neighbour = behind.map(blockKey).find((unit) => there.has(unit));
  const place = neighbour === undefined ? 0 : others.indexOf(neighbour) + 1;
  if (neighbour !== undefined && place === 0) return [neighbour, key, ...others];
  return others.toSpliced(place, 0, key);
}

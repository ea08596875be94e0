/** Applies a person's decision about a proposal. */
import { type AssetId, newId } from '../../ids.ts';
import type { Snapshot } from '../translation/source.ts';
import { boundPast, isOfPerson, oneToOne, standingTexts, succeed } from './past.ts';
import type { Proposal, Provenance, RefreshResult, UnitKey, UnitProvenance } from './types.ts';
import { absentUnit, blockKey, fieldsOf, type SourceHashes, type Unit, writtenUnit } from './units.ts';
import { type Change, imagesKnown, unitsOfVersion, writeUnits } from './write.ts';

/** The version after a proposal is accepted (images: see `RefreshResult`); null when its unit has changed since. */
export function acceptProposal(
  current: Snapshot,
  provenance: Provenance | null,
  proposal: Proposal,
): Omit<RefreshResult, 'proposals' | 'settled'> | null {
  const { key, source, target, value, texts, newSource } = proposal;
  const known = provenance ?? [];
  const units = unitsNow(current, provenance, proposal);
  const there = units.get(key);
  if ((there?.hash ?? null) !== target) return null;
  const isCopied = value?.type === 'image' && there === undefined;
  const change: Change =
    value === null || source === null
      ? { value: null }
      : {
          value: isCopied ? { type: 'image', image: { ...value.image, id: newId<AssetId>() } } : value,
          source,
          texts,
          from: newSource,
        };
  const order = withUnit(known, units, proposal);
  return { ...writeUnits(current, known, units, new Map([[key, change]]), order), applied: [key] };
}

/**
 * The provenance after a proposal is rejected: what stands there counts as a translation of the proposal's source, whose
 * pair becomes the present one.
 */
export function rejectProposal(
  current: Snapshot,
  provenance: Provenance | null,
  proposal: Proposal,
): Pick<RefreshResult, 'provenance' | 'sources'> {
  const { key, source, texts, newSource } = proposal;
  const known = provenance ?? [];
  const before = known.find((unit) => unit.key === key);
  const there = unitsNow(current, provenance, proposal).get(key);
  const others = known.filter((unit) => unit !== before);
  // A unit removed from the source that a person keeps belongs to the version alone.
  if (source === null) return { provenance: others, sources: [[key, null]] };
  const from = { hash: source, texts };
  const after = there === undefined ? absentUnit(key, from) : retainedUnit(key, from, there, before);
  const kept = succeed(before, there, { ...idsOf(before), ...after });
  const all = before === undefined ? [...known, kept] : known.map((unit) => (unit === before ? kept : unit));
  return { provenance: boundPast(all), sources: [[key, newSource]] };
}

const idsOf = ({ blockId, assetId }: Partial<UnitProvenance> = {}): Partial<UnitProvenance> => ({
  ...(blockId === undefined ? {} : { blockId }),
  ...(assetId === undefined ? {} : { assetId }),
});

/** Pairs an unchanged unit with a new source. Its texts map to the source's only if their number is equal. */
function retainedUnit(
  key: UnitKey,
  source: SourceHashes,
  there: Unit,
  before: UnitProvenance | undefined,
): UnitProvenance {
  const after = writtenUnit(key, source, there.value);
  const alike = after.written.length === source.texts.length;
  const standing = before === undefined ? [] : standingTexts(before, fieldsOf(key, there.value));
  const isOneToOne = oneToOne(standing);
  const written = after.written.map((hash, index) => {
    const text = standing[index];
    return text === undefined || isOneToOne(text) ? hash : '';
  });
  return {
    ...after,
    ...(alike ? { written } : { texts: before?.texts ?? [], written: before?.written ?? [] }),
    ...(before === undefined || isOfPerson(before, there) ? { byPerson: true as const } : {}),
  };
}

/** The version's units. Without provenance, an image is known only from the proposal. */
function unitsNow(
  current: Snapshot,
  provenance: Provenance | null,
  { key, value }: Proposal,
): Map<UnitKey, Unit> {
  const image: [UnitKey, AssetId][] = value?.type === 'image' ? [[key, value.image.id]] : [];
  return unitsOfVersion(current, provenance, [...imagesKnown(provenance ?? []), ...image]);
}

/** The known units in order, with this one after its nearest neighbour in the version. */
function withUnit(
  known: Provenance,
  there: ReadonlyMap<UnitKey, Unit>,
  { key, behind }: Proposal,
): UnitKey[] {
  const order = known.map((unit) => unit.key);
  if (there.has(key) || !key.startsWith('block:')) return order.includes(key) ? order : [...order, key];
  const others = order.filter((unit) => unit !== key);
  const neighbour = behind.map(blockKey).find((unit) => there.has(unit));
  const place = neighbour === undefined ? 0 : others.indexOf(neighbour) + 1;
  return others.toSpliced(place, 0, key);
}

/** Applies a person's decisions: about proposals, and that what stands in a version is up to date. */
import { type AssetId, newId } from '../../ids.ts';
import { MAX_BLOCKS } from '../format/schema.ts';
import type { Snapshot } from '../translation/source.ts';
import { boundPast, isOfPerson, oneToOne, standingTexts, succeed } from './past.ts';
import { adopt, compare } from './states.ts';
import type {
  Decision,
  Proposal,
  Provenance,
  RefreshResult,
  Refusal,
  UnitKey,
  UnitProvenance,
  UnitValue,
} from './types.ts';
import {
  absentUnit,
  blockKey,
  fieldsOf,
  hashesOf,
  type SourceHashes,
  type Unit,
  writtenUnit,
} from './units.ts';
import { type Change, imagesKnown, unitsOfVersion, writeUnits } from './write.ts';

/** The version after the decisions, or why none of them is carried out. */
export type DecidedUnits =
  | { readonly ok: false; readonly refused: readonly Refusal[] }
  | { readonly ok: true; readonly result: Omit<RefreshResult, 'proposals' | 'settled'> };

/**
 * Carries out all decisions, or none (contract.md T49). A rejected proposal makes what stands there a translation of the
 * proposal's source: that pair becomes the present one.
 * @param at the time of the decision
 */
export function decide(
  current: Snapshot,
  provenance: Provenance | null,
  decisions: readonly Decision[],
  at: string,
): DecidedUnits {
  const accepted = decisions.filter(({ isAccepted }) => isAccepted);
  const units = unitsNow(current, provenance, decisions);
  const refused = whyRefused(current, units, accepted);
  if (refused.length > 0) return { ok: false, refused };
  const known = new Map((provenance ?? []).map((unit) => [unit.key, unit]));
  const rejections = decisions.filter(({ isAccepted }) => !isAccepted);
  for (const { proposal } of rejections) {
    const { key, source, texts } = proposal;
    const from = source === null ? null : { hash: source, texts };
    retain(known, { key, from, there: units.get(key), at });
  }
  const before = [...known.values()];
  const changes = new Map(accepted.map(({ proposal }) => [proposal.key, changeOf(proposal, units)]));
  const written = writeUnits(current, before, units, changes, orderWith(before, units, accepted));
  const jobs = new Map(accepted.map(({ proposal, jobId }) => [proposal.key, jobId]));
  const result = {
    ...written,
    provenance: written.provenance.map((unit) => {
      const jobId = jobs.get(unit.key);
      return jobId === undefined ? unit : { ...unit, wrote: { jobId, at } };
    }),
    sources: [
      ...written.sources,
      ...rejections.map(({ proposal }) => [proposal.key, proposal.newSource] as const),
    ],
    applied: accepted.map(({ proposal }) => proposal.key),
  };
  return { ok: true, result };
}

/** The units that a person has marked as up to date, and what is kept about them. */
export interface Marked extends Pick<RefreshResult, 'provenance' | 'sources'> {
  readonly keys: readonly UnitKey[];
}

/**
 * Makes what stands in the version a person's translation of the present source (contract.md T51).
 * @param named keys of units that a side has; null for all that both sides have and that are not current
 */
export function markCurrent(
  source: Snapshot,
  version: Snapshot,
  provenance: Provenance | null,
  named: ReadonlySet<string> | null,
  at: string,
): Marked {
  const { units } = compare(source, version, provenance);
  const marked = units.filter((unit) =>
    named === null ? unit.source && unit.version && unit.state !== 'current' : named.has(unit.key),
  );
  const known = new Map((provenance ?? units.flatMap(adopt)).map((unit) => [unit.key, unit]));
  for (const { key, source: from, version: there } of marked) {
    const hashes = from && { hash: from.hash, texts: hashesOf(fieldsOf(key, from.value)) };
    retain(known, { key, from: hashes ?? null, there, at, byPerson: true });
  }
  return {
    keys: marked.map(({ key }) => key),
    provenance: boundPast([...known.values()]),
    sources: marked.map(({ key, source: from }) => [key, from?.value ?? null]),
  };
}

/** A unit of the version that stays as it is, and counts as a translation of a source from now on. */
interface Retained {
  readonly key: UnitKey;
  /** Null for a unit removed from the source: it belongs to the version alone. */
  readonly from: SourceHashes | null;
  readonly there: Unit | undefined;
  readonly at: string;
  /** Whoever wrote it: it counts as a person's. */
  readonly byPerson?: true;
}

/** Makes a unit of the version that of a source. */
export function retain(
  known: Map<UnitKey, UnitProvenance>,
  { key, from, there, at, byPerson }: Retained,
): void {
  const before = known.get(key);
  if (from === null) {
    known.delete(key);
    return;
  }
  const after =
    there === undefined
      ? absentUnit(key, from)
      : { ...retainedUnit(key, from, there, before), ...(byPerson && { byPerson }) };
  const kept = succeed(before, there, { ...idsOf(before), ...after });
  const isSame = before?.target === there?.hash;
  const wrote =
    there === undefined || kept.byPerson ? { jobId: null, at } : isSame ? before?.wrote : undefined;
  known.set(key, wrote === undefined ? kept : { ...kept, wrote });
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

/** The version's units. Without provenance, an image is known only from its proposal. */
function unitsNow(
  current: Snapshot,
  provenance: Provenance | null,
  decisions: readonly Pick<Decision, 'proposal'>[],
): Map<UnitKey, Unit> {
  const images = decisions.flatMap(({ proposal: { key, value } }): [UnitKey, AssetId][] =>
    value?.type === 'image' ? [[key, value.image.id]] : [],
  );
  return unitsOfVersion(current, provenance, [...imagesKnown(provenance ?? []), ...images]);
}

/** What stands in the version for each proposal, as its unit's value; absent when there is none. */
export function currentValues(
  current: Snapshot,
  provenance: Provenance | null,
  proposals: readonly Pick<Decision, 'proposal'>[],
): Map<UnitKey, UnitValue> {
  const units = unitsNow(current, provenance, proposals);
  return new Map(
    proposals.flatMap(({ proposal: { key } }) => {
      const value = units.get(key)?.value;
      return value === undefined ? [] : [[key, value] as const];
    }),
  );
}

/** The proposals that cannot be accepted together. */
function whyRefused(
  { document }: Snapshot,
  units: ReadonlyMap<UnitKey, Unit>,
  accepted: readonly Decision[],
): Refusal[] {
  const before = document.blocks.length;
  const removed = accepted.filter(
    ({ proposal: { key, value } }) => value === null && key.startsWith('block:') && units.has(key),
  );
  let room = Math.max(MAX_BLOCKS - before, 0) + removed.length;
  return accepted.flatMap(({ id, proposal: { key, value, target } }): Refusal[] => {
    const there = units.get(key);
    if ((there?.hash ?? null) !== target) return [{ id, reason: 'changed' }];
    if (value?.type !== 'block' || there !== undefined) return [];
    room -= 1;
    return room < 0 ? [{ id, reason: 'full' }] : [];
  });
}

function changeOf(
  { key, source, value, texts, newSource }: Proposal,
  units: ReadonlyMap<UnitKey, Unit>,
): Change {
  if (value === null || source === null) return { value: null };
  const isCopied = value.type === 'image' && !units.has(key);
  return {
    value: isCopied ? { type: 'image', image: { ...value.image, id: newId<AssetId>() } } : value,
    source,
    texts,
    from: newSource,
  };
}

/** The known units in order, with each new one after its nearest neighbour in the version. */
function orderWith(
  known: Provenance,
  there: ReadonlyMap<UnitKey, Unit>,
  accepted: readonly Decision[],
): UnitKey[] {
  const inserts = accepted.filter(({ proposal: { key } }) => key.startsWith('block:') && !there.has(key));
  const placed = new Set(inserts.map(({ proposal }) => proposal.key));
  const order = known.flatMap(({ key }) => (placed.has(key) ? [] : key));
  const listed = new Set(order);
  for (const { proposal } of accepted) {
    if (!placed.has(proposal.key) && !listed.has(proposal.key)) order.push(proposal.key);
  }
  placed.clear();
  for (const { proposal } of inserts) {
    const neighbour = proposal.behind.map(blockKey).find((unit) => there.has(unit) || placed.has(unit));
    const place = neighbour === undefined ? 0 : order.indexOf(neighbour) + 1;
    order.splice(place, 0, proposal.key);
    placed.add(proposal.key);
  }
  return order;
}

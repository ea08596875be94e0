/** Judges what stands in a version by the pairs of source and translation that were written before (contract.md T39). */

import { hashOfShape } from './canonical.ts';
import type { Pair, Provenance, UnitProvenance, UnitState } from './types.ts';
import { type Field, fieldsOf, hashesOf, type Unit } from './units.ts';

/** Bounds on earlier pairs: of one text, and on average of all texts of a version. */
const MAX_PAIRS = 20;
const MEAN_PAIRS = 4;

/**
 * A text of the version. `present`: as last written. `moved`: that of another text of its unit. `past`: written before.
 * `edited`: in no pair.
 */
export interface StandingText {
  readonly is: 'present' | 'moved' | 'past' | 'edited';
  readonly hash: string;
  /** Hash of the source text that it was written for; undefined when unknown. */
  readonly source: string | undefined;
  readonly byPerson: boolean;
}

/** The texts of a version's unit, each with the source text that it was written for. */
export function standingTexts(known: UnitProvenance, fields: readonly Field[]): StandingText[] {
  const hashes = hashesOf(fields);
  const { texts, written } = known;
  const byPerson = known.byPerson === true;
  const elsewhere = new Map<string, number[]>();
  for (const [index, hash] of written.entries()) {
    if (hash === hashes[index]) continue;
    const same = elsewhere.get(hash);
    if (same === undefined) elsewhere.set(hash, [index]);
    else same.push(index);
  }
  const taken = new Set<number>();
  const moved = hashes.map((hash, index) => {
    if (hash === written[index]) return undefined;
    const place = elsewhere.get(hash)?.shift();
    if (place !== undefined) taken.add(place);
    return place;
  });
  const past = new Map((known.pastTexts ?? []).toReversed().map((pair) => [pair.target, pair]));
  const isAligned = fields.length === texts.length;
  return hashes.map((hash, index): StandingText => {
    if (hash === written[index]) return { is: 'present', hash, source: texts[index], byPerson };
    const place = moved[index];
    if (place !== undefined) return { is: 'moved', hash, source: texts[place], byPerson };
    const pair = past.get(hash);
    if (pair !== undefined)
      return { is: 'past', hash, source: pair.source, byPerson: pair.byPerson === true };
    // A rewritten text keeps its position if the number of texts is unchanged.
    const inPlace = isAligned && !taken.has(index);
    return { is: 'edited', hash, source: inPlace ? texts[index] : undefined, byPerson: true };
  });
}

/**
 * Returns a function that is true for a text of which it is known for which source text it was written: of several that a
 * person has rewritten or moved within their unit it is not known which is which.
 */
export function oneToOne(standing: readonly StandingText[]): (text: StandingText) => boolean {
  const isRewritten = ({ is, byPerson }: StandingText): boolean =>
    is !== 'present' && (is !== 'past' || byPerson);
  const isOnly = standing.filter(isRewritten).length === 1;
  return (text) => !isRewritten(text) || (isOnly && text.is !== 'moved');
}

/** What stands in the version. */
export interface Judged {
  readonly state: Exclude<UnitState, 'new' | 'gone'>;
  /** True when a person's words or structure would be lost with it. */
  readonly byPerson: boolean;
}

/** The pair of a whole unit; the present one first. */
export function pairOf({ past = [], ...known }: UnitProvenance, hash: string): Pair | undefined {
  if (known.target === hash) {
    return { source: known.source, target: hash, ...(known.byPerson ? { byPerson: true } : {}) };
  }
  return past.find(({ target }) => target === hash);
}

/** Judges a unit by the newest pair that has it, else text by text. */
export function judge(known: UnitProvenance, version: Unit, source: Unit): Judged {
  const { key } = known;
  const from = fieldsOf(key, source.value);
  // Code and dividers are the same in every language.
  if (source.hash === version.hash && from.length === 0) return { state: 'current', byPerson: false };
  const pair = pairOf(known, version.hash);
  if (pair !== undefined) {
    const isSame = pair.source === source.hash;
    if (!pair.byPerson) return { state: isSame ? 'current' : 'stale', byPerson: false };
    const isPresent = known.target === version.hash;
    return { state: isSame ? (isPresent ? 'current' : 'edited') : 'editedAndStale', byPerson: true };
  }
  const fields = fieldsOf(key, version.value);
  const standing = standingTexts(known, fields);
  const sourceTexts = hashesOf(from);
  const inSource = new Set(sourceTexts);
  let byPerson = fields.length !== known.written.length || hashOfShape(version.value) !== known.shape;
  let isStale = known.source !== source.hash;
  for (const [index, text] of standing.entries()) {
    const isOld = text.is === 'past' && !inSource.has(text.source ?? '');
    if (isOld) isStale = true;
    const stays =
      text.is === 'present' || isOld || (text.is === 'past' && text.source === sourceTexts[index]);
    if (text.byPerson || !stays) byPerson = true;
  }
  if (byPerson) return { state: isStale ? 'editedAndStale' : 'edited', byPerson };
  return { state: isStale ? 'stale' : 'current', byPerson };
}

/** True when a unit that the source no longer has differs from everything written for it. */
export const isOfPerson = (known: UnitProvenance, version: Unit): boolean => {
  const pair = pairOf(known, version.hash);
  return pair === undefined || pair.byPerson === true;
};

/** Notes what a person has made of a unit, before it is replaced or proposed to be. */
export function noteEdits(known: UnitProvenance, there: Unit | undefined): UnitProvenance {
  if (there === undefined || pairOf(known, there.hash) !== undefined) return known;
  const standing = standingTexts(known, fieldsOf(known.key, there.value));
  const texts = standing.flatMap(({ is, hash, source = '' }): Pair[] =>
    is === 'edited' ? [{ source, target: hash, byPerson: true }] : [],
  );
  return {
    ...known,
    past: [{ source: known.source, target: there.hash, byPerson: true }, ...(known.past ?? [])],
    pastTexts: newest([...texts, ...(known.pastTexts ?? [])], []),
  };
}

/** Marks a new present pair of which a person's texts are part. */
function withKept(before: UnitProvenance, there: Unit, after: UnitProvenance): UnitProvenance {
  const standing = standingTexts(before, fieldsOf(before.key, there.value));
  const isOneToOne = oneToOne(standing);
  const own = new Set(standing.flatMap(({ hash, byPerson }) => (byPerson ? hash : [])));
  if (!after.written.some((hash) => own.has(hash))) return after;
  const isUnsure = (text: StandingText): boolean => text.is !== 'moved' && !isOneToOne(text);
  const unsure = new Set(standing.flatMap((text) => (isUnsure(text) ? text.hash : [])));
  return {
    ...after,
    written: after.written.map((hash) => (unsure.has(hash) ? '' : hash)),
    byPerson: true,
  };
}

/** A unit's new present pair, with the earlier ones behind it. Earlier pairs of the same text go. */
export function succeed(
  before: UnitProvenance | undefined,
  there: Unit | undefined,
  now: UnitProvenance,
): UnitProvenance {
  if (before === undefined) return now;
  const after = there === undefined ? now : withKept(before, there, now);
  const { source, target, texts, written, byPerson, past = [], pastTexts = [] } = noteEdits(before, there);
  const by = byPerson ? { byPerson } : {};
  const whole = target ? [{ source, target, ...by }] : [];
  const each = written.flatMap((text, index) =>
    text === '' ? [] : { source: texts[index] ?? '', target: text, ...by },
  );
  const earlier = newest([...whole, ...past], after.target === null ? [] : [after.target]);
  const earlierTexts = newest([...each, ...pastTexts], now.written);
  return {
    ...after,
    ...(earlier.length > 0 ? { past: earlier } : {}),
    ...(earlierTexts.length > 0 ? { pastTexts: earlierTexts } : {}),
  };
}

/** The newest pair of each text, without those that stand now. */
function newest(pairs: readonly Pair[], present: readonly string[]): Pair[] {
  const seen = new Set(present);
  return pairs.filter(({ target }) => !seen.has(target) && seen.add(target));
}

const textsIn = ({ texts }: UnitProvenance): number => Math.max(1, texts.length);

/** Keeps the newest pairs: the same number of each text, as many as the version may have (contract.md T41). */
export function boundPast(provenance: Provenance): Provenance {
  const all = provenance.reduce((sum, unit) => sum + textsIn(unit), 0);
  const kept = (most: number): number =>
    provenance.reduce((sum, unit) => sum + Math.min(unit.pastTexts?.length ?? 0, most * textsIn(unit)), 0);
  let most = MAX_PAIRS;
  while (most > MEAN_PAIRS && kept(most) > MEAN_PAIRS * all) most -= 1;
  return provenance.map((unit) => {
    const { past = [], pastTexts = [], ...present } = unit;
    if (past.length <= most && pastTexts.length <= most * textsIn(unit)) return unit;
    return { ...present, past: past.slice(0, most), pastTexts: pastTexts.slice(0, most * textsIn(unit)) };
  });
}

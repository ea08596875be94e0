/** What a version has in the place of the texts that a refresh translates (contract.md V57). */
import { type EncodedField, encodeField } from '../translation/field-codec.ts';
import type { VersionTexts } from '../translation/planned.ts';
import { holderKey } from '../translation/segments.ts';
import type { Snapshot } from '../translation/source.ts';
import { splitLong } from '../translation/split.ts';
import type { TagContent } from '../translation/tags.ts';
import { hashOfText } from './canonical.ts';
import { standingTexts } from './past.ts';
import { type Compared, compare } from './states.ts';
import type { Provenance, UnitKey, UnitSources } from './types.ts';
import { blockKey, eachUnit, type Field, fieldsOf, hashesOf } from './units.ts';

/** A version that is refreshed. */
export interface RefreshedVersion {
  readonly content: Snapshot;
  /** Null for a version without one. */
  readonly provenance: Provenance | null;
  /** What its changed units were translated from, as far as that is known. */
  readonly oldSources: UnitSources;
}

/**
 * Finds the version's texts of a refresh. A text whose source has not changed is translated again because somebody wants
 * other words: it has no present text.
 * @param whole the source
 * @param part the part of it that is translated
 */
export function textsInVersion(
  whole: Snapshot,
  part: Snapshot,
  { content, provenance, oldSources }: RefreshedVersion,
): VersionTexts {
  const compared = new Map(compare(whole, content, provenance).units.map((unit) => [unit.key, unit]));
  const places = new Map<
    string,
    { readonly key: UnitKey; readonly fields: Field[]; readonly index: number }
  >();
  for (const [key, value, place] of eachUnit(part)) {
    const fields = fieldsOf(key, value);
    for (const [index, field] of fields.entries()) places.set(field.keyAt(place), { key, fields, index });
  }
  const pairsOf = cached((key: UnitKey, fields: readonly Field[]) =>
    pairTexts(fields, compared.get(key), fieldsOfSource(key, oldSources)),
  );
  const standingOf = cached((key: UnitKey, place: number) => standing(compared.get(key), place));
  return {
    at(segmentKey) {
      const field = holderKey(segmentKey);
      const found = places.get(field);
      if (found === undefined) return {};
      const { key, fields, index } = found;
      const { old, current } = pairsOf(key, fields)[index] ?? {};
      const like = fields[index];
      if (current === undefined || like === undefined) return {};
      const rest = segmentKey.slice(field.length);
      const [oldSource, text] = [old && pieceOf(old, like, rest), pieceOf(current, like, rest)];
      return text === undefined ? {} : { ...(oldSource === undefined ? {} : { oldSource }), current: text };
    },
    textOf(segmentKey) {
      const [, place] = /^block\.(\d+)\./.exec(segmentKey) ?? [];
      const block = whole.document.blocks[Number(place)];
      const text = block && standingOf(blockKey(block.id), Number(place)).get(holderKey(segmentKey));
      return text === undefined ? '' : shown(encodeField(text));
    },
  };
}

const fieldsOfSource = (key: UnitKey, sources: UnitSources): Field[] => {
  const value = sources[key];
  return value === undefined ? [] : fieldsOf(key, value);
};

function cached<Key, Rest, Value>(work: (key: Key, rest: Rest) => Value): (key: Key, rest: Rest) => Value {
  const known = new Map<Key, Value>();
  return (key, rest) => {
    const value = known.get(key) ?? work(key, rest);
    known.set(key, value);
    return value;
  };
}

interface TextPair {
  readonly old?: Field | undefined;
  readonly current?: Field | undefined;
}

/** For each text of a changed unit the version's, found by what it was translated from. */
function pairTexts(
  fields: readonly Field[],
  { key, known, version }: Partial<Compared> = {},
  old: readonly Field[],
): TextPair[] {
  if (key === undefined || version === undefined || known === undefined) return [];
  const there = fieldsOf(key, version.value);
  const { texts } = known;
  if (texts.length === 0) {
    return there.length === fields.length ? there.map((current) => ({ current })) : [];
  }
  const written = standingTexts(known, there).map(({ source }) => source);
  const oldHashes = hashesOf(old);
  return align(hashesOf(fields), texts).map((place): TextPair => {
    const hash = place === undefined ? '' : texts[place];
    if (place === undefined || !hash) return {};
    const current = there[written[place] === hash ? place : written.indexOf(hash)];
    return { current, old: oldHashes[place] === hash ? old[place] : undefined };
  });
}

/**
 * For each new text the place of the one that it has replaced: the same place when their number is equal, else in order
 * between those that are still there. One that is still there is replaced by none.
 */
function align(now: readonly string[], before: readonly string[]): (number | undefined)[] {
  const stays = new Set(now);
  const isReplaced = (place: number): boolean => !stays.has(before[place] ?? '');
  if (now.length === before.length) return now.map((_, index) => (isReplaced(index) ? index : undefined));
  const places = Map.groupBy(before.keys(), (place) => before[place]);
  const found = new Map<number, number>();
  let last = -1;
  let open: number[] = [];
  const close = (end: number): void => {
    for (let place = last + 1; place < end && open.length > 0; place += 1) {
      const index = isReplaced(place) ? open.shift() : undefined;
      if (index !== undefined) found.set(index, place);
    }
    last = end;
    open = [];
  };
  for (const [index, hash] of now.entries()) {
    const next = places.get(hash)?.find((place) => place > last);
    if (next === undefined) open.push(index);
    else close(next);
  }
  close(before.length);
  return now.map((_, index) => found.get(index));
}

/** The version's texts of a unit by the keys of the source's. */
function standing(unit: Compared | undefined, place: number): ReadonlyMap<string, Field> {
  if (unit?.source === undefined || unit.version === undefined) return new Map();
  const fields = fieldsOf(unit.key, unit.source.value);
  const there = fieldsOf(unit.key, unit.version.value);
  const written =
    unit.known === undefined ? [] : standingTexts(unit.known, there).map(({ source }) => source);
  const isAligned = fields.length === there.length;
  return new Map(
    fields.flatMap((field, index) => {
      const hash = hashOfText(field);
      const text = there[isAligned || written[index] === hash ? index : written.indexOf(hash)];
      return text === undefined ? [] : [[field.keyAt(place), text] as const];
    }),
  );
}

/** The piece of a text that corresponds to a segment of `like`: a part of it, the title of a link, or all of it. */
function pieceOf(field: Field, like: Field, segment: string): string | undefined {
  const encoded = encodeField(field);
  const [, kind, number] = /^\.(part|title)\.(\d+)$/.exec(segment) ?? [];
  if (kind === undefined) return shown(encoded);
  const model = encodeField(like);
  if (kind === 'title') {
    const place = [...model.titles.keys()].indexOf(Number(number));
    return encoded.titles.size === model.titles.size ? [...encoded.titles.values()][place] : undefined;
  }
  const parts = splitLong(encoded.nodes);
  const part = parts.length === splitLong(model.nodes).length ? parts[Number(number)] : undefined;
  return part && shown(encoded, part.nodes);
}

/** A text as it is read, with its code and placeholders. */
const shown = ({ nodes, placeholders }: EncodedField, some: readonly TagContent[] = nodes): string =>
  some
    .map((node) =>
      typeof node === 'string'
        ? node
        : (placeholders.get(node.id) ?? shown({ nodes, placeholders } as EncodedField, node.children)),
    )
    .join('');

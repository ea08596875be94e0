/** Finds existing translations of a unit's texts. */
import type { ArticleLink } from '../format/schema.ts';
import type { TextChange } from '../format/walk.ts';
import type { UnitKey, UnitProvenance, UnitValue } from './types.ts';
import { type Field, fieldsOf, hashesOf } from './units.ts';

/** Translations, by index, of the source texts with these hashes; undefined where a translation no longer exists. */
export interface ReusableTexts {
  readonly texts: readonly string[];
  readonly fields: readonly (Field | undefined)[];
}

/** Looks up places by hash: the n-th call with a hash gives its n-th place. */
function places(
  hashes: readonly string[],
): (hash: string) => readonly [place: number | undefined, last: number | undefined] {
  const byHash = new Map<string, number[]>();
  for (const [index, hash] of hashes.entries()) {
    const same = byHash.get(hash);
    if (same === undefined) byHash.set(hash, [index]);
    else same.push(index);
  }
  const calls = new Map<string, number>();
  return (hash) => {
    const nth = calls.get(hash) ?? 0;
    calls.set(hash, nth + 1);
    const same = byHash.get(hash);
    return [same?.[nth], same?.at(-1)];
  };
}

/** The texts of a version's unit, matched to their source texts even after edits by a person. */
export function reusableTexts(
  key: UnitKey,
  known: UnitProvenance,
  value: UnitValue,
  untouched: boolean,
): ReusableTexts {
  const fields = fieldsOf(key, value);
  if (untouched) return { texts: known.texts, fields };
  const hashes = hashesOf(fields);
  const free = places(hashes.map((hash, index) => (hash === known.written[index] ? '' : hash)));
  const found = known.written.map((hash, index) => (hash === hashes[index] ? index : free(hash)[0]));
  const claimed = new Set(found);
  // A rewritten text keeps its position if the number of texts is unchanged.
  const inPlace = fields.length === known.texts.length;
  return {
    texts: known.texts,
    fields: known.texts.map((_, index) => {
      const place = found[index] ?? (inPlace && !claimed.has(index) ? index : undefined);
      return place === undefined ? undefined : fields[place];
    }),
  };
}

/** For each text of the source's unit its existing translation, from the first of `made` that has one. */
export function reuse(
  fields: readonly Field[],
  hashes: readonly string[],
  made: readonly ReusableTexts[],
): (TextChange | undefined)[] {
  const finders = made.map(({ texts, fields: before }) => ({ placeOf: places(texts), before }));
  return fields.map((field, index) => {
    for (const { placeOf, before } of finders) {
      const [place, last] = placeOf(hashes[index] ?? '');
      const there = before[place ?? last ?? -1];
      if (there?.markdown === field.markdown) return kept(field, there);
    }
    return undefined;
  });
}

/** The existing text with the source's current links, which are mapped when it is written. */
function kept(source: Field, { text, links }: Field): TextChange {
  if (source.links.length !== links.length) return { text, links: [...links] };
  if (links.length === 0) return { text };
  return {
    text,
    links: links.map(
      (link, index): ArticleLink => ({
        text: link.text,
        articleId: source.links[index]?.articleId ?? link.articleId,
      }),
    ),
  };
}

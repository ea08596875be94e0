/** Finds the texts of a unit that are there in the target language already. */
import type { ArticleLink } from '../format/schema.ts';
import type { TextChange } from '../format/walk.ts';
import type { UnitKey, UnitProvenance, UnitValue } from './types.ts';
import { type Field, fieldsOf, hashesOf } from './units.ts';

/** Texts made from texts of the source with these hashes; one that is no longer there is undefined. */
export interface Made {
  readonly texts: readonly string[];
  readonly fields: readonly (Field | undefined)[];
}

/** Places by hash; the n-th of equal texts is asked for n-th. */
function places(
  hashes: readonly string[],
): (hash: string) => readonly [place: number | undefined, last: number | undefined] {
  const byHash = new Map<string, number[]>();
  for (const [index, hash] of hashes.entries()) {
    const same = byHash.get(hash);
    if (same === undefined) byHash.set(hash, [index]);
    else same.push(index);
  }
  const asked = new Map<string, number>();
  return (hash) => {
    const nth = asked.get(hash) ?? 0;
    asked.set(hash, nth + 1);
    const same = byHash.get(hash);
    return [same?.[nth], same?.at(-1)];
  };
}

/** The texts of a version's unit beside those that they were made from, whatever a person has done to them. */
export function madeInVersion(
  key: UnitKey,
  known: UnitProvenance,
  value: UnitValue,
  untouched: boolean,
): Made {
  const fields = fieldsOf(key, value);
  if (untouched) return { texts: known.texts, fields };
  const hashes = hashesOf(fields);
  const free = places(hashes.map((hash, index) => (hash === known.written[index] ? '' : hash)));
  const found = known.written.map((hash, index) => (hash === hashes[index] ? index : free(hash)[0]));
  const claimed = new Set(found);
  // One that a person has rewritten is where it was, if all others are.
  const inPlace = fields.length === known.texts.length;
  return {
    texts: known.texts,
    fields: known.texts.map((_, index) => {
      const place = found[index] ?? (inPlace && !claimed.has(index) ? index : undefined);
      return place === undefined ? undefined : fields[place];
    }),
  };
}

/** For each text of the source's unit the one made of it before, by the first of `made` that has it. */
export function reuse(
  fields: readonly Field[],
  hashes: readonly string[],
  made: readonly Made[],
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

/** The text that is there, with the links of the source now: they are mapped when the text is written. */
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

/** Finds existing translations of a unit's texts. */
import type { ArticleLink } from '../format/schema.ts';
import type { TextChange } from '../format/walk.ts';
import { serializeInline } from '../inline/markdown.ts';
import { parseInline } from '../inline/parse.ts';
import { hasFormatting, runsText, textRun } from '../inline/runs.ts';
import { standingTexts } from './past.ts';
import type { UnitKey, UnitProvenance, UnitValue } from './types.ts';
import { type Field, fieldsOf } from './units.ts';

/** Translations, by index, of the source texts with these hashes; undefined where that is unknown. */
export interface ReusableTexts {
  readonly texts: readonly (string | undefined)[];
  readonly fields: readonly Field[];
}

/** Looks up places by hash: the n-th call with a hash gives its n-th place. */
function places(
  hashes: readonly (string | undefined)[],
): (hash: string) => readonly [place: number | undefined, last: number | undefined] {
  const byHash = new Map<string, number[]>();
  for (const [index, hash] of hashes.entries()) {
    if (hash === undefined) continue;
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

/** The texts of a version's unit, matched to the source texts that they were written for, even after edits by a person. */
export function reusableTexts(key: UnitKey, known: UnitProvenance, value: UnitValue): ReusableTexts {
  const fields = fieldsOf(key, value);
  return { texts: standingTexts(known, fields).map(({ source }) => source), fields };
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
      const change = there && carryOver(field, there);
      if (change !== undefined) return change;
    }
    return undefined;
  });
}

/**
 * The existing text in the source's format, with the source's current links, which are mapped when it is written.
 * Undefined when plain text cannot express it.
 */
export function carryOver(source: Field, { text, links, markdown }: Field): TextChange | undefined {
  if (source.markdown !== markdown) {
    if (links.length > 0) return undefined;
    if (source.markdown) return { text: serializeInline([textRun(text)]) };
    const runs = parseInline(text);
    return hasFormatting(runs) ? undefined : { text: runsText(runs) };
  }
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

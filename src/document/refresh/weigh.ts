/** The price of a refresh. */
import { textWeight } from '../format/words.ts';
import { toPlainText } from '../inline/parse.ts';
import { encodeField } from '../translation/field-codec.ts';
import type { LanguagePair } from '../translation/figures.ts';
import { needsTranslation } from '../translation/segments.ts';
import type { RefreshPlan } from './types.ts';
import { eachUnit, type Field, fieldsOf } from './units.ts';

/** Weight of the texts that are sent, counted as in a new translation. */
export function weigh({
  partial,
  kept,
  languages,
}: Pick<RefreshPlan, 'partial' | 'kept' | 'languages'>): number {
  const there = new Map(kept);
  let weight = 0;
  for (const [key, value, place] of eachUnit(partial)) {
    for (const field of fieldsOf(key, value)) {
      if (!there.has(field.keyAt(place))) weight += weightOf(field, languages);
    }
  }
  return weight;
}

function weightOf(field: Field, languages: LanguagePair | null): number {
  const { nodes, titles } = encodeField(field);
  let weight = needsTranslation(nodes, languages)
    ? textWeight(field.markdown ? toPlainText(field.text) : field.text)
    : 0;
  for (const title of titles.values()) {
    if (needsTranslation(encodeField({ text: title, markdown: false, links: [] }).nodes, languages))
      weight += textWeight(title);
  }
  return weight;
}

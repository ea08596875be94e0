/** The price of a refresh. */
import { textWeight } from '../format/words.ts';
import { toPlainText } from '../inline/parse.ts';
import { encodeField } from '../translation/field-codec.ts';
import type { LanguagePair } from '../translation/figures.ts';
import { needsTranslation } from '../translation/segments.ts';
import type { RefreshPlan, UnitKey, UnitValue } from './types.ts';
import { blockKey, type Field, fieldsOf, fieldUnits, imageKey } from './units.ts';

/** Weight of the texts that are sent, counted as in a new translation. */
export function weigh({
  partial,
  kept,
  languages,
}: Pick<RefreshPlan, 'partial' | 'kept' | 'languages'>): number {
  const there = new Map(kept);
  let weight = 0;
  const add = (key: UnitKey, value: UnitValue, index: number) => {
    for (const field of fieldsOf(key, value))
      if (!there.has(field.keyAt(index))) weight += weightOf(field, languages);
  };
  for (const [key, value] of fieldUnits(partial)) add(key, value, 0);
  for (const [index, block] of partial.document.blocks.entries()) {
    add(blockKey(block.id), { type: 'block', block }, index);
  }
  for (const [index, image] of partial.assets.entries())
    add(imageKey(image.id), { type: 'image', image }, index);
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

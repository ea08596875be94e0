/** A first translation is the refresh of an empty draft (contract.md T53). */
import type { LanguagePair } from '../translation/figures.ts';
import type { Snapshot } from '../translation/source.ts';
import { planRefresh } from './plan.ts';
import type { Provenance, RefreshPlan } from './types.ts';
import { absentUnit, fieldsOf, fieldUnits, hashesOf, unitsOf, writtenUnit } from './units.ts';

/** The content of a new draft, which has a title until it is translated. */
export const newDraft = (title: string): Snapshot => ({
  title,
  metaTitle: null,
  metaDescription: null,
  targetKeywords: [],
  secondaryKeywords: [],
  document: { version: 1, blocks: [] },
  assets: [],
});

/** Fields as the service has made them, for no source yet; and the source's cover as removed where the draft has its own. */
function draftProvenance(source: Snapshot, draft: Snapshot, madeTitle: string): Provenance {
  const fields = fieldUnits(newDraft(madeTitle)).map(([key, value]) =>
    writtenUnit(key, { hash: '', texts: [] }, value),
  );
  if (draft.assets.every(({ role }) => role !== 'hero')) return fields;
  const covers = [...unitsOf(source)].flatMap(([key, { value, hash }]) =>
    value.type === 'image' && value.image.role === 'hero'
      ? [absentUnit(key, { hash, texts: hashesOf(fieldsOf(key, value)) })]
      : [],
  );
  return [...fields, ...covers];
}

/**
 * Plans a first translation. What a person has set in the draft stays.
 * @param madeTitle the title that the service gave the draft
 */
export const planDraft = (
  source: Snapshot,
  draft: Snapshot,
  madeTitle: string,
  languages?: LanguagePair,
): RefreshPlan =>
  planRefresh(source, draft, draftProvenance(source, draft, madeTitle), {
    apply: 'untouched',
    proposed: [],
    languages,
    isFirst: true,
  });

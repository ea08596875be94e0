import type { z } from 'zod';
import { conflict, invalid } from '../errors.ts';
import type { CategoryNameId } from '../ids.ts';
import type { NewName } from './names.ts';
import type { updateCategoryBody } from './schemas.ts';

/** PATCH's three fields; tags are canonical, at most one name per language. */
export type CategoryPatch = z.output<typeof updateCategoryBody>;

export interface CurrentName extends NewName {
  readonly id: CategoryNameId;
  readonly slug: string;
}

/** Names per category: changing or assigning it reads them all. */
const MAX_LANGUAGES = 200;

/** A category before the change. */
export interface CurrentCategory {
  readonly primaryLanguage: string;
  readonly names: readonly CurrentName[];
}

export type NameChange =
  | { readonly kind: 'add'; readonly to: NewName }
  | { readonly kind: 'rename'; readonly from: CurrentName; readonly to: NewName }
  | { readonly kind: 'remove'; readonly from: CurrentName };

export interface CategoryChange {
  readonly primaryLanguage: string;
  /** Sorted by language tag, so that transactions that change several names write them in one order. */
  readonly names: readonly NameChange[];
  /** False when the category already is as requested. */
  readonly changesAnything: boolean;
}

const languageOf = (change: NameChange): string =>
  change.kind === 'remove' ? change.from.language : change.to.language;

/**
 * Plans a patch: its three fields are one decision, checked on the result (contract.md C7). Adding an existing name and
 * removing a missing language change nothing.
 * @throws {ServiceError} INVALID_REQUEST when the result has no name in its primary language; CONFLICT `category_limit`
 */
export function planChange(current: CurrentCategory, patch: CategoryPatch): CategoryChange {
  const byLanguage = new Map(current.names.map((name) => [name.language, name]));
  const written = (patch.translations ?? []).flatMap((to): NameChange[] => {
    const from = byLanguage.get(to.language);
    if (from === undefined) return [{ kind: 'add', to }];
    return from.name === to.name ? [] : [{ kind: 'rename', from, to }];
  });
  const removed = [...new Set(patch.removeLanguages)].flatMap((language): NameChange[] => {
    const from = byLanguage.get(language);
    return from === undefined ? [] : [{ kind: 'remove', from }];
  });
  const names = [...written, ...removed].sort((a, b) => (languageOf(a) < languageOf(b) ? -1 : 1));

  const languages = new Set(byLanguage.keys());
  for (const change of names) {
    if (change.kind === 'remove') languages.delete(change.from.language);
    else languages.add(languageOf(change));
  }
  const primaryLanguage = patch.primaryLanguage ?? current.primaryLanguage;
  if (!languages.has(primaryLanguage)) {
    throw invalid(
      patch.primaryLanguage === undefined ? '/removeLanguages' : '/primaryLanguage',
      `The category would have no name in its primary language ${primaryLanguage}.`,
    );
  }
  if (languages.size > Math.max(MAX_LANGUAGES, byLanguage.size)) {
    throw conflict(
      `A category has names in at most ${MAX_LANGUAGES} languages; remove some first.`,
      'category_limit',
    );
  }
  return {
    primaryLanguage,
    names,
    changesAnything: names.length > 0 || primaryLanguage !== current.primaryLanguage,
  };
}

import type { Suggestions } from '../db/suggestions.ts';
import { countSuggestions } from './model-questions.ts';

/** contract.md S4: suggestions for an article or a project, in credits. */
export const SUGGESTION_CREDITS = 1;

/** Half a credit per language, rounded up per request (contract.md S5). */
export const namesPrice = (languages: number): number => Math.ceil(languages / 2);

/** Credits for the suggestions. Names are charged by number, because some may be missing. */
export const priceOf = (suggestions: Suggestions): number =>
  suggestions.kind === 'category_names' ? namesPrice(countSuggestions(suggestions)) : SUGGESTION_CREDITS;

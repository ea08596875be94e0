import type { WritingBrief } from '../brief.ts';
import type { Said } from '../said.ts';
import type { DraftSources } from './check-draft.ts';

/**
 * What a draft is checked against: all that the customer wrote, the outline, and the notes of research (contract.md N27).
 * @param passages of sources that its claims were compared with
 */
export const draftSources = (
  { config, notes }: WritingBrief,
  { said }: Said,
  passages: readonly string[] = [],
): DraftSources => ({
  language: config.language,
  keyword: config.primaryKeyword ?? null,
  texts: [said, ...notes.map(({ quote }) => quote), ...passages],
});

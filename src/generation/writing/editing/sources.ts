import type { Outline } from '../../outline.ts';
import type { WritingBrief } from '../brief.ts';
import { customersWords } from '../said.ts';
import type { DraftSources } from './check-draft.ts';

/**
 * What a draft is checked against: all that the customer wrote, and the notes of research (contract.md N27). A model's own
 * outline supports nothing: a figure that it invented there would stand in the text unseen.
 * @param approved the outline, if a person approved it
 * @param passages of sources that its claims were compared with
 */
export const draftSources = (
  brief: WritingBrief,
  approved: Outline | null,
  passages: readonly string[] = [],
): DraftSources => ({
  language: brief.config.language,
  keyword: brief.config.primaryKeyword ?? null,
  texts: [customersWords(brief, approved).said, ...brief.notes.map(({ quote }) => quote), ...passages],
});

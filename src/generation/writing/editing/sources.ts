import type { Outline } from '../../outline.ts';
import type { WritingBrief } from '../brief.ts';
import { customersWords } from '../said.ts';
import type { DraftSources } from './check-draft.ts';

/** What a draft is checked against: all that the customer wrote, and the outline. */
export const draftSources = (brief: WritingBrief, outline: Outline): DraftSources => ({
  language: brief.config.language,
  keyword: brief.config.primaryKeyword ?? null,
  texts: [customersWords(brief, outline).said],
});

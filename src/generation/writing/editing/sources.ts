import type { WritingBrief } from '../brief.ts';
import type { Said } from '../said.ts';
import type { DraftSources } from './check-draft.ts';

/** What a draft is checked against: all that the customer wrote, and the outline. */
export const draftSources = ({ config }: WritingBrief, { said }: Said): DraftSources => ({
  language: config.language,
  keyword: config.primaryKeyword ?? null,
  texts: [said],
});

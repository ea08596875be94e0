import { leadOf } from './lead.ts';
import { verdictsOf } from './research/facts.ts';
import { lengthsOf, textParts } from './text-parts.ts';
import { required, type Work } from './write-part.ts';
import { checkDraft, type DraftChecks, type DraftPart, withHeading } from './writing/editing/check-draft.ts';
import { draftSources } from './writing/editing/sources.ts';
import { LEAD_ID } from './writing/write-lead.ts';

/** Checks a finished article as it is put together (contract.md G72). */
export function checkArticle(work: Work): DraftChecks {
  const written = { ...work, outline: required(work.outline) };
  const { brief, outline, isApproved, plan } = written;
  const { lead } = leadOf(work.parts);
  const first: DraftPart[] =
    lead === null ? [] : [{ id: LEAD_ID, planned: lengthsOf(brief.config, plan).lead, blocks: lead.blocks }];
  const others = textParts(written).map(({ text, ...part }) => withHeading({ ...part, blocks: text.blocks }));
  // What a passage says may have come into the text by the second pass.
  const passages = verdictsOf(work.parts).claims.flatMap(({ evidence }) => evidence?.passage ?? []);
  return checkDraft([...first, ...others], draftSources(brief, isApproved ? outline : null, passages));
}

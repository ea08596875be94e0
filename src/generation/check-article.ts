import type { Block } from '../document/format/schema.ts';
import { leadOf } from './lead.ts';
import { lengthsOf, textParts } from './text-parts.ts';
import { required, type Work } from './write-part.ts';
import { checkDraft, type DraftChecks, type DraftPart } from './writing/editing/check-draft.ts';
import { draftSources } from './writing/editing/sources.ts';
import { blockId } from './writing/markdown/blocks.ts';
import { LEAD_ID } from './writing/write-lead.ts';

/** Checks a finished article as it is put together (contract.md G72). */
export function checkArticle(work: Work): DraftChecks {
  const written = { ...work, outline: required(work.outline) };
  const { brief, outline, plan } = written;
  const { lead } = leadOf(work.parts);
  const first: DraftPart[] =
    lead === null ? [] : [{ id: LEAD_ID, planned: lengthsOf(brief.config, plan).lead, blocks: lead.blocks }];
  const others = textParts(written).map(({ id, heading, planned, text }): DraftPart => {
    const above: Block = { id: blockId(id, 0), type: 'heading', level: 2, text: heading };
    return { id, planned, blocks: [above, ...text.blocks] };
  });
  return checkDraft([...first, ...others], draftSources(brief, outline));
}

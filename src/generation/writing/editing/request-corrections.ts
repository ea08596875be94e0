/** Asks a model to correct the sentences that passages contradict: the editor's second pass (contract.md N33). */
import type { Outline } from '../../outline.ts';
import type { WritingBrief } from '../brief.ts';
import type { Plan } from '../plan.ts';
import type { Contradiction } from '../prompts/corrections.ts';
import type { EditsOutput } from '../prompts/edits.ts';
import { BYTES_PER_TOKEN } from '../prompts/fit.ts';
import { requestPart } from '../request-part.ts';
import type { ArticleWriter } from '../writer.ts';
import type { Edit } from './apply-edits.ts';
import { numberDraft, splitDraft } from './draft.ts';
import { checkEdits, DRAFT_SHARE, type PartToEdit, readEdit, rulesOf } from './request-edits.ts';

/** A sentence that a passage contradicts. */
export interface ContradictedSentence extends Omit<Contradiction, 'block'> {
  readonly blockId: string;
}

export interface CorrectionsRequest {
  readonly brief: WritingBrief;
  readonly outline: Outline;
  readonly plan: Plan | null;
  readonly parts: readonly PartToEdit[];
  readonly contradicted: readonly ContradictedSentence[];
  /** Calls with a response in earlier attempts. */
  readonly answered: number;
  readonly signal: AbortSignal;
}

/**
 * Requests edits of blocks with contradicted sentences, and of no others. Blocks with citations are out of its reach.
 * @throws {ProviderError} as `requestEdits`
 */
export async function requestCorrections(
  writer: ArticleWriter,
  { brief, outline, plan, parts, contradicted, answered, signal }: CorrectionsRequest,
): Promise<{ readonly edits: readonly Edit[]; readonly unusable: number }> {
  const ids = new Set(contradicted.map(({ blockId }) => blockId));
  const draft = numberDraft(parts.filter(({ blocks }) => blocks.some(({ id }) => ids.has(id))));
  const numbered = contradicted.flatMap(({ blockId, ...sentence }): Contradiction[] => {
    const block = draft.numbers.get(blockId);
    return block === undefined ? [] : [{ block, ...sentence }];
  });
  if (numbered.length === 0) return { edits: [], unusable: 0 };
  const { readings } = splitDraft(draft.parts, writer.contextTokens * BYTES_PER_TOKEN * DRAFT_SHARE);
  const { value } = await requestPart<EditsOutput['edits']>({
    ask: (rejected) =>
      writer.ask({
        kind: 'corrections',
        brief,
        article: { outline, plan, finished: [], faq: null },
        draft: readings[0] ?? [],
        contradictions: numbered,
        signal,
        rejected,
      }),
    check: checkEdits,
    answered,
    what: 'the corrections',
    signal,
  });
  const wanted = new Set(numbered.map(({ block }) => block));
  const reading = { rules: rulesOf(brief, outline), writer, language: brief.config.language };
  const edits = value.flatMap((given) => {
    const edit = wanted.has(given.block) ? readEdit(given, draft, reading) : null;
    return edit === null ? [] : [edit];
  });
  return { edits, unusable: value.length - edits.length };
}

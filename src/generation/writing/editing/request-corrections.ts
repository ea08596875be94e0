/** Asks a model to correct the sentences that passages contradict: the editor's second pass (contract.md N33 and N36). */
import type { Plan } from '../plan.ts';
import type { Contradiction } from '../prompts/corrections.ts';
import type { ArticleWriter } from '../writer.ts';
import { type CorrectableSentences, isCorrectable } from './apply-edits.ts';
import { type Correctable, correctableIn } from './cited-blocks.ts';
import { numberDraft } from './draft.ts';
import { type DraftToEdit, type RequestedEdits, readInTurn } from './read-in-turn.ts';

/** A sentence that a passage contradicts. */
export interface ContradictedSentence extends Omit<Contradiction, 'block'>, Correctable {
  readonly blockId: string;
}

export interface CorrectionsRequest extends DraftToEdit {
  readonly plan: Plan | null;
  readonly contradicted: readonly ContradictedSentence[];
}

export interface RequestedCorrections extends RequestedEdits {
  /** What may be corrected in blocks that cite: for `applyEdits`. */
  readonly correctable: CorrectableSentences;
}

/**
 * Requests edits of blocks with contradicted sentences, and of no others, each in the reading that its sentence was told with.
 * @throws {ProviderError} as `readInTurn`
 */
export async function requestCorrections(
  writer: ArticleWriter,
  request: CorrectionsRequest,
): Promise<RequestedCorrections> {
  const { brief, outline, plan, parts, contradicted, signal } = request;
  const ofBlock = Map.groupBy(contradicted, ({ blockId }) => blockId);
  const correctable = new Map<string, readonly Correctable[]>();
  const draft = numberDraft(
    parts.filter(({ blocks }) => blocks.some(({ id }) => ofBlock.has(id))),
    (block, texts) => {
      const open = isCorrectable(block, texts)
        ? correctableIn(block, ofBlock.get(block.id) ?? [], texts)
        : [];
      if (open.length > 0) correctable.set(block.id, open);
      return open.length > 0;
    },
  );
  const contradictions = contradicted.flatMap((claim): Contradiction[] => {
    const { blockId, sentence, passage, site } = claim;
    const block = draft.numbers.get(blockId);
    const isOpen = correctable.get(blockId)?.includes(claim) ?? true;
    return block === undefined || !isOpen ? [] : [{ block, sentence, passage, site }];
  });
  const wanted = new Set(contradictions.map(({ block }) => block));
  const told = draft.parts.filter(({ blocks }) =>
    blocks.some(({ number }) => number !== undefined && wanted.has(number)),
  );
  if (told.length === 0) return { edits: [], unusable: 0, unread: 0, correctable };
  const requested = await readInTurn(
    writer,
    request,
    { ...draft, parts: told },
    {
      what: 'the corrections',
      question: ({ parts: read, numbers }, rejected) => ({
        kind: 'corrections',
        brief,
        article: { outline, plan, finished: [], faq: null },
        draft: read,
        contradictions: contradictions.filter(({ block }) => numbers.has(block)),
        signal,
        rejected,
      }),
      isOpen: (number, { numbers }) => numbers.has(number) && wanted.has(number),
    },
  );
  return { ...requested, correctable };
}

/** Asks a model to correct the sentences that passages contradict: the editor's second pass (contract.md N33 and N36). */
import type { Plan } from '../plan.ts';
import type { Contradiction } from '../prompts/corrections.ts';
import type { ArticleWriter } from '../writer.ts';
import type { Correctable } from './cited-blocks.ts';
import { type DraftToEdit, numberCorrectable, type RequestedEdits, readInTurn } from './read-in-turn.ts';

/** A sentence that a passage contradicts. */
export interface ContradictedSentence extends Omit<Contradiction, 'block'>, Correctable {
  readonly blockId: string;
  /** Those from the page of the passage. */
  readonly notes: readonly number[];
}

export interface CorrectionsRequest extends DraftToEdit {
  readonly plan: Plan | null;
  readonly contradicted: readonly ContradictedSentence[];
}

/**
 * Requests edits of blocks with contradicted sentences, and of no others, each in the reading that its sentence was told with.
 * @throws {ProviderError} as `readInTurn`
 */
export async function requestCorrections(
  writer: ArticleWriter,
  request: CorrectionsRequest,
): Promise<RequestedEdits> {
  const { brief, outline, plan, parts, contradicted, signal } = request;
  const ofBlock = Map.groupBy(contradicted, ({ blockId }) => blockId);
  const draft = numberCorrectable(
    parts.filter(({ blocks }) => blocks.some(({ id }) => ofBlock.has(id))),
    ({ id }) => ofBlock.get(id) ?? [],
  );
  const { correctable } = draft;
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
  return readInTurn(
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
}

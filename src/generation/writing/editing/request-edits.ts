/** Asks a model to read a draft to its end: the editor's pass. */
import type { Plan } from '../plan.ts';
import type { FoundInDraft } from '../prompts/edits.ts';
import type { ArticleWriter } from '../writer.ts';
import { MAX_EDITS } from './apply-edits.ts';
import { checkDraft, type DraftSources } from './check-draft.ts';
import { sentencesOfBlock } from './cited-blocks.ts';
import type { NumberedDraft } from './draft.ts';
import { figuresIn, unsupportedFigures } from './figures.ts';
import { type DraftToEdit, numberCorrectable, type RequestedEdits, readInTurn } from './read-in-turn.ts';
import { draftSources } from './sources.ts';

export interface EditsRequest extends DraftToEdit {
  /** A person approved the outline: its words are the customer's. */
  readonly isApproved: boolean;
  /** What the sections were written by; null when there is none. */
  readonly plan: Plan | null;
}

/**
 * Requests the edits of a draft (contract.md G71).
 * @throws {ProviderError} as `readInTurn`
 */
export function requestEdits(writer: ArticleWriter, request: EditsRequest): Promise<RequestedEdits> {
  const { brief, outline, isApproved, plan, parts, signal } = request;
  const sources = draftSources(brief, isApproved ? outline : null);
  const known = figuresIn(sources.texts);
  const notes = brief.notes.map((_, index) => index + 1);
  // A figure from nowhere may be taken out beside a citation, too (contract.md N27).
  const draft = numberCorrectable(parts, (block) =>
    sentencesOfBlock(block).flatMap((sentence) =>
      unsupportedFigures([{ id: block.id, type: 'paragraph', text: sentence }], known).length > 0
        ? [{ sentence, notes }]
        : [],
    ),
  );
  const found = findings(parts, draft, sources);
  return readInTurn(writer, request, draft, {
    what: 'the edits of the whole',
    question: ({ parts: read, numbers, number, of }, rejected) => ({
      kind: 'edits',
      brief,
      article: { outline, plan, finished: [], faq: null },
      draft: read,
      reading: { number, of },
      found: within(found, numbers),
      edits: Math.floor(MAX_EDITS / of),
      signal,
      rejected,
    }),
  });
}

/** What the checks found, by the numbers of blocks that may be edited. */
function findings(
  parts: EditsRequest['parts'],
  { numbers }: NumberedDraft,
  sources: DraftSources,
): FoundInDraft {
  const { nearCopies, figures, keyword } = checkDraft(parts, sources);
  return {
    nearCopies: nearCopies.flatMap(({ blockId, ofBlockId }) => {
      const [block, of] = [numbers.get(blockId), numbers.get(ofBlockId)];
      return block === undefined || of === undefined ? [] : [{ block, of }];
    }),
    unsupportedFigures: figures.flatMap(({ blockId, figure }) => {
      const block = numbers.get(blockId);
      return block === undefined ? [] : [{ block, figure }];
    }),
    ...(keyword?.density === 0 ? { keyword: 'No block has the primary keyword.' } : {}),
    ...(keyword?.tooDense === true ? { keyword: 'More than 3 % of all words are the primary keyword.' } : {}),
  };
}

/** What concerns a block of this reading. */
const within = (found: FoundInDraft, numbers: ReadonlySet<number>): FoundInDraft => ({
  ...found,
  nearCopies: found.nearCopies.filter(({ block, of }) => numbers.has(block) || numbers.has(of)),
  unsupportedFigures: found.unsupportedFigures.filter(({ block }) => numbers.has(block)),
});

/** Has a model edit a draft reading by reading. */
import type { Block } from '../../../document/format/schema.ts';
import { isUnusable } from '../../../providers/types.ts';
import type { Outline } from '../../outline.ts';
import type { WritingBrief } from '../brief.ts';
import type { EditsOutput } from '../prompts/edits.ts';
import { BYTES_PER_TOKEN } from '../prompts/fit.ts';
import type { QuestionOf } from '../prompts/index.ts';
import { requestPart } from '../request-part.ts';
import type { ArticleWriter } from '../writer.ts';
import { type CorrectableSentences, type Edit, isCorrectable, MAX_EDITS } from './apply-edits.ts';
import { type Correctable, correctableIn } from './cited-blocks.ts';
import { type HeadedPart, type NumberedDraft, type NumberedPart, numberDraft, splitDraft } from './draft.ts';
import { checkEdits, type PartToEdit, readEdit, rulesOf } from './read-edit.ts';

/** The most of a model's context that a draft takes; the rest is for settings, plan, task and response. */
const DRAFT_SHARE = 0.4;

/** A draft, and what it was written by. */
export interface DraftToEdit {
  readonly brief: WritingBrief;
  readonly outline: Outline;
  /** Sections and questions as written, without their headings. */
  readonly parts: readonly PartToEdit[];
  /** Calls with a response in earlier attempts; 0 by default. */
  readonly answered?: number;
  readonly signal: AbortSignal;
}

export interface RequestedEdits {
  readonly edits: readonly Edit[];
  /** Edits that could not be read: they name no block of their reading, or put something there that may not stand in an article. */
  readonly unusable: number;
  /** Parts that did not fit into the model's context. */
  readonly unread: number;
  /** What may be corrected in blocks that cite: for `applyEdits`. */
  readonly correctable: CorrectableSentences;
}

/** A draft whose blocks that cite have a number, too, where a sentence of theirs may be corrected. */
export interface CorrectableDraft extends NumberedDraft {
  readonly correctable: CorrectableSentences;
}

/** Numbers a draft. @param sentencesOf what of a block that cites should be corrected */
export function numberCorrectable(
  parts: readonly HeadedPart[],
  sentencesOf: (block: Block) => readonly Correctable[],
): CorrectableDraft {
  const correctable = new Map<string, readonly Correctable[]>();
  const draft = numberDraft(parts, (block) => {
    const open = isCorrectable(block) ? correctableIn(block, sentencesOf(block)) : [];
    if (open.length > 0) correctable.set(block.id, open);
    return open.length > 0;
  });
  return { ...draft, correctable };
}

/** What is read at once. */
export interface DraftReading {
  readonly parts: readonly NumberedPart[];
  /** The numbers of its blocks that may be edited. */
  readonly numbers: ReadonlySet<number>;
  /** Which reading it is, from 1, of how many. */
  readonly number: number;
  readonly of: number;
}

type Rejected = Parameters<Parameters<typeof requestPart<EditsOutput['edits']>>[0]['ask']>[0];
type EditorsQuestion = QuestionOf<'edits'> | QuestionOf<'corrections'>;

/**
 * Requests edits of a draft, of one that takes more than two fifths of the model's context half by half. An edit is taken of a
 * block of its own reading alone. A second half that fails leaves the edits of the first; both together cost the calls of one part.
 * @param draft of `request.parts`, or of some of them
 * @throws {ProviderError} of the writer, or `unusable` when no response was usable; the signal's reason when aborted
 */
export async function readInTurn(
  writer: ArticleWriter,
  { brief, outline, signal, ...request }: DraftToEdit,
  draft: CorrectableDraft,
  {
    what,
    question,
    isOpen = (number, reading) => reading.numbers.has(number),
  }: {
    readonly what: string;
    readonly question: (reading: DraftReading, rejected: Rejected) => EditorsQuestion;
    /** Whether a reading may edit the block of a number: by default each of its own. */
    readonly isOpen?: (number: number, reading: DraftReading) => boolean;
  },
): Promise<RequestedEdits> {
  const { readings, unread } = splitDraft(draft.parts, writer.contextTokens * BYTES_PER_TOKEN * DRAFT_SHARE);
  const rules = { rules: rulesOf(brief, outline), writer, language: brief.config.language };
  const result = { edits: [] as Edit[], unusable: 0, unread, correctable: draft.correctable };
  let answered = request.answered ?? 0;
  for (const [index, parts] of readings.entries()) {
    const numbers = new Set(parts.flatMap(({ blocks }) => blocks.flatMap(({ number }) => number ?? [])));
    const reading = { parts, numbers, number: index + 1, of: readings.length };
    try {
      const { value, calls } = await requestPart({
        ask: (rejected) => writer.ask(question(reading, rejected)),
        check: checkEdits,
        answered,
        what,
        signal,
      });
      answered = calls;
      result.unusable += Math.max(0, value.length - MAX_EDITS);
      for (const given of value.slice(0, MAX_EDITS)) {
        const edit = isOpen(given.block, reading) ? readEdit(given, draft, rules) : null;
        if (edit === null) result.unusable += 1;
        else result.edits.push(edit);
      }
    } catch (error) {
      if (index === 0 || !isUnusable(error)) throw error;
      result.unread += parts.length;
    }
  }
  return result;
}

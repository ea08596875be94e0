/** Asks a model to read a draft to its end, and reads the edits that it gives. */
import type { Block } from '../../../document/format/schema.ts';
import { ParsedTexts } from '../../../document/inline/texts.ts';
import { cutAtWord } from '../../../document/text/characters.ts';
import { type Checked, parseResponse } from '../../../providers/ask.ts';
import type { ChatResponse } from '../../../providers/chat-model.ts';
import { isUnusable } from '../../../providers/types.ts';
import type { Outline } from '../../outline.ts';
import type { Defect, WritingBrief } from '../brief.ts';
import { firstWords } from '../excerpt.ts';
import { languageDefect } from '../language.ts';
import { readLine } from '../markdown/line.ts';
import { type PartRules, readPart } from '../markdown/read.ts';
import type { Plan } from '../plan.ts';
import { type EditsOutput, editsOutput, type FoundInDraft } from '../prompts/edits.ts';
import { BYTES_PER_TOKEN } from '../prompts/fit.ts';
import { requestPart } from '../request-part.ts';
import { customersWords, type Said } from '../said.ts';
import type { ArticleWriter } from '../writer.ts';
import { type Edit, MAX_EDITS } from './apply-edits.ts';
import { checkDraft, type DraftPart } from './check-draft.ts';
import { type NumberedDraft, numberDraft, splitDraft } from './draft.ts';
import { draftSources } from './sources.ts';

/** The most of a model's context that a draft takes; the rest is for settings, plan, task and response. */
export const DRAFT_SHARE = 0.4;
/** Words and characters of a reason. */
const MAX_REASON_WORDS = 10;
const MAX_REASON = 200;
/** Characters of a replacement that are read. */
const MAX_REPLACEMENT = 20_000;

/** A part of the draft below its heading. */
export interface PartToEdit extends DraftPart {
  readonly heading: string;
}

export interface EditsRequest {
  readonly brief: WritingBrief;
  readonly outline: Outline;
  /** What the sections were written by; null when there is none. */
  readonly plan: Plan | null;
  /** Sections and questions as written, without their headings. */
  readonly parts: readonly PartToEdit[];
  /** Calls with a response in earlier attempts; 0 by default. */
  readonly answered?: number;
  readonly signal: AbortSignal;
}

export interface RequestedEdits {
  readonly edits: readonly Edit[];
  /** Edits that could not be read: they name no block, or put something there that may not stand in an article. */
  readonly unusable: number;
  /** Parts that did not fit into the model's context. */
  readonly unread: number;
}

/**
 * Requests the edits of a draft (contract.md G71), of one that takes more than two fifths of the model's context half by half. A
 * second half that fails leaves the edits of the first.
 * @throws {ProviderError} of the writer, or `unusable` when no response was usable; the signal's reason when aborted
 */
export async function requestEdits(writer: ArticleWriter, request: EditsRequest): Promise<RequestedEdits> {
  const { brief, outline, plan, parts, signal } = request;
  const draft = numberDraft(parts);
  const { readings, unread } = splitDraft(draft.parts, writer.contextTokens * BYTES_PER_TOKEN * DRAFT_SHARE);
  const rules = rulesOf(brief, outline);
  const found = findings(request, draft, rules);
  const most = Math.floor(MAX_EDITS / readings.length);
  const result = { edits: [] as Edit[], unusable: 0, unread };
  let answered = request.answered ?? 0;
  for (const [index, reading] of readings.entries()) {
    const numbers = new Set(reading.flatMap(({ blocks }) => blocks.flatMap(({ number }) => number ?? [])));
    try {
      const { value, calls } = await requestPart({
        ask: (rejected) =>
          writer.ask({
            kind: 'edits',
            brief,
            article: { outline, plan, finished: [], faq: null },
            draft: reading,
            reading: { number: index + 1, of: readings.length },
            found: within(found, numbers),
            edits: most,
            signal,
            rejected,
          }),
        check: checkEdits,
        answered,
        what: 'the edits of the whole',
        signal,
      });
      answered = calls;
      result.unusable += Math.max(0, value.length - MAX_EDITS);
      for (const given of value.slice(0, MAX_EDITS)) {
        const edit = readEdit(given, draft, { rules, writer, language: brief.config.language });
        if (edit === null) result.unusable += 1;
        else result.edits.push(edit);
      }
    } catch (error) {
      if (index === 0 || !isUnusable(error)) throw error;
      result.unread += reading.length;
    }
  }
  return result;
}

/** Reads the edits of a response, each of which is checked by itself. */
export function checkEdits(response: ChatResponse): Checked<EditsOutput['edits'], Defect> {
  const parsed = parseResponse(editsOutput, response);
  return parsed.ok ? { value: parsed.value.edits, defects: [] } : { value: null, defects: parsed.defects };
}

/** What the checks found, by the numbers of blocks that may be edited. */
function findings({ brief, parts }: EditsRequest, { numbers }: NumberedDraft, own: Said): FoundInDraft {
  const { nearCopies, figures, keyword } = checkDraft(parts, draftSources(brief, own));
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

export const rulesOf = (brief: WritingBrief, outline: Outline): PartRules => ({
  ...customersWords(brief, outline),
  section: { id: 'edit', heading: '', level: 2 },
  // The links of a block stay; an edit makes none.
  articles: [],
  earlier: new Set(),
});

interface Reading {
  readonly rules: PartRules;
  readonly writer: ArticleWriter;
  readonly language: string;
}

/** The edit, with its reason in ten words; null for one that says nothing usable. */
export function readEdit(
  given: EditsOutput['edits'][number],
  { editable }: NumberedDraft,
  reading: Reading,
): Edit | null {
  const old = editable.get(given.block);
  const words = firstWords(readLine(given.reason, reading.rules.addresses), MAX_REASON_WORDS);
  const reason = cutAtWord(words, MAX_REASON);
  if (old === undefined || reason === '') return null;
  if (given.action === 'delete') return { blockId: old.id, block: null, reason };
  const block = readReplacement(old, given.text, reading);
  return block === null ? null : { blockId: old.id, block, reason };
}

/** The text as one block in the place of another; null when it is something else, or cannot stand in the article. */
function readReplacement(old: Block, text: string, { rules, writer, language }: Reading): Block | null {
  const { blocks, defects } = readPart(text, rules, { characters: MAX_REPLACEMENT });
  const [block] = blocks;
  if (block === undefined || blocks.length > 1 || block.type !== old.type) return null;
  // Before a list a paragraph may end with a colon.
  const isOpen = old.type === 'paragraph' && /[:：]\s*$/.test(old.text) && /[:：]\s*$/.test(text);
  if (defects.some(({ code }) => !(code === 'truncated' && isOpen))) return null;
  if (languageDefect(writer, [block], language) !== null) return null;
  return withLinksOf(old, { ...block, id: old.id });
}

/** The block with those links of the old one whose words it still has. Blocks with links are plain text. */
function withLinksOf(old: Block, block: Block): Block {
  if (old.type !== 'paragraph' || block.type !== 'paragraph') return block;
  const { format, ...plain } = block;
  const text = format === undefined ? block.text : new ParsedTexts().plain(block.text);
  const links = (old.links ?? []).filter((link) => text.includes(link.text));
  return links.length === 0 ? block : { ...plain, text, links };
}

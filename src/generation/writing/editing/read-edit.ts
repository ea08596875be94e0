/** Reads the edits that a model gives. */
import type { Block } from '../../../document/format/schema.ts';
import { toPlainText } from '../../../document/inline/parse.ts';
import { cutAtWord } from '../../../document/text/characters.ts';
import { type Checked, parseResponse } from '../../../providers/ask.ts';
import type { ChatResponse } from '../../../providers/chat-model.ts';
import type { Outline } from '../../outline.ts';
import type { Defect, WritingBrief } from '../brief.ts';
import { firstWords } from '../excerpt.ts';
import { languageDefect } from '../language.ts';
import { readLine } from '../markdown/line.ts';
import { type PartRules, readPart } from '../markdown/read.ts';
import { type EditsOutput, editsOutput } from '../prompts/edits.ts';
import { customersWords } from '../said.ts';
import type { ArticleWriter } from '../writer.ts';
import type { Edit } from './apply-edits.ts';
import type { DraftPart } from './check-draft.ts';
import type { NumberedDraft } from './draft.ts';

/** Words and characters of a reason. */
const MAX_REASON_WORDS = 10;
const MAX_REASON = 200;
/** Characters of a replacement that are read. */
const MAX_REPLACEMENT = 20_000;

/** A part of the draft below its heading. */
export interface PartToEdit extends DraftPart {
  readonly heading: string;
}

/** Reads the edits of a response, each of which is checked by itself. */
export function checkEdits(response: ChatResponse): Checked<EditsOutput['edits'], Defect> {
  const parsed = parseResponse(editsOutput, response);
  return parsed.ok ? { value: parsed.value.edits, defects: [] } : { value: null, defects: parsed.defects };
}

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
  const text = format === undefined ? block.text : toPlainText(block.text);
  const links = (old.links ?? []).filter((link) => text.includes(link.text));
  return links.length === 0 ? block : { ...plain, text, links };
}

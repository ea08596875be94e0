/** Applies the edits of the editor's pass to a draft. */
import { parseDocument } from '../../../document/format/parse.ts';
import type { ArticleLink, Block } from '../../../document/format/schema.ts';
import { collectTexts } from '../../../document/format/walk.ts';
import { parseInline, parsingOnce } from '../../../document/inline/parse.ts';
import { deliveredWords } from '../../delivered.ts';
import { type Correctable, hasCitation, keepsCitations } from './cited-blocks.ts';

export const MAX_EDITS = 40;
/** Share of its words that an article keeps. */
const MIN_KEPT = 0.9;

/** A change of one block. */
export interface Edit {
  readonly blockId: string;
  /** The block in its place, of the same type and id; null deletes it. */
  readonly block: Block | null;
  /** At most ten words and 200 characters, in the editor's own words. */
  readonly reason: string;
}

/** Why an edit was refused. */
export type EditRefusal =
  /** More than 40 edits, or a second one of a block. */
  | 'too many'
  /** Names no block of the draft, or puts nothing new in its place. */
  | 'nothing to change'
  /** Heading, code, image, divider or citation. */
  | 'protected'
  /** Another type or id, no words, a new link, or not a valid document. */
  | 'invalid'
  /** The only text below a heading, or of a part. */
  | 'last text'
  /** The article would have less than 90 % of its words, or more than it may have. */
  | 'length';

export interface RefusedEdit {
  readonly edit: Edit;
  readonly why: EditRefusal;
}

export interface EditedDraft {
  /** The blocks of each part. */
  readonly parts: readonly (readonly Block[])[];
  readonly applied: readonly Edit[];
  readonly refused: readonly RefusedEdit[];
}

/** Words of the parts, those of code counted. */
export interface WordBounds {
  /** They do not shrink below it. */
  readonly least: number;
  /** They do not grow beyond it. */
  readonly most: number;
}

/** What may be corrected in blocks that cite, by their ids; blocks that are not named stay. */
export type CorrectableSentences = ReadonlyMap<string, readonly Correctable[]>;

/**
 * Applies edits one after the other; one that breaks a rule is refused alone (contract.md G73). Edits never touch headings,
 * code, images and citations; every part and every heading keeps a text, the article 90 % of its words, and it is a valid
 * document afterwards if it was one. Deterministic.
 * @param parts the blocks of each part, without the headings of sections
 * @param correctable none in a pass that corrects nothing
 */
export function applyEdits(
  parts: readonly (readonly Block[])[],
  edits: readonly Edit[],
  bounds: WordBounds,
  correctable: CorrectableSentences = new Map(),
): EditedDraft {
  return parsingOnce(() => applyInTurn(parts, edits, bounds, correctable));
}

function applyInTurn(
  parts: readonly (readonly Block[])[],
  edits: readonly Edit[],
  { least, most }: WordBounds,
  correctable: CorrectableSentences,
): EditedDraft {
  const applied: Edit[] = [];
  const refused: RefusedEdit[] = [];
  const named = new Set<string>();
  let draft = parts;
  let words = deliveredWords(draft.flat());
  const kept = Math.max(words * MIN_KEPT, least);
  for (const [index, edit] of edits.entries()) {
    const isOneMore = index < MAX_EDITS && !named.has(edit.blockId);
    const edited = isOneMore ? applyEdit(draft, edit, correctable) : 'too many';
    named.add(edit.blockId);
    if (typeof edited === 'string') {
      refused.push({ edit, why: edited });
      continue;
    }
    const now = words + edited.addedWords;
    if ((now < words && now < kept) || (now > words && now > most)) {
      refused.push({ edit, why: 'length' });
      continue;
    }
    draft = edited.parts;
    words = now;
    applied.push(edit);
  }
  return { parts: draft, applied, refused };
}

/** The draft after one edit, whatever its length, or why it is refused. */
function applyEdit(
  parts: readonly (readonly Block[])[],
  { blockId, block }: Edit,
  correctable: CorrectableSentences,
): { parts: readonly (readonly Block[])[]; addedWords: number } | EditRefusal {
  const part = parts.findIndex((blocks) => blocks.some(({ id }) => id === blockId));
  const before = parts[part] ?? [];
  const at = before.findIndex(({ id }) => id === blockId);
  const old = before[at];
  if (old === undefined || JSON.stringify(old) === JSON.stringify(block)) return 'nothing to change';
  const cited = isEditable(old) ? null : correctable.get(blockId);
  if (cited === undefined || (cited !== null && !isCorrectable(old))) return 'protected';
  if (cited !== null && (block === null || !keepsCitations(old, block, cited))) return 'protected';
  if (block !== null && (block.type !== old.type || block.id !== old.id)) return 'invalid';
  const blocks = before.toSpliced(at, 1, ...(block === null ? [] : [block]));
  const edited = parts.with(part, blocks);
  if (!parseDocument({ version: 1, blocks: edited.flat() }).ok) return 'invalid';
  if (block === null && isLastText(before, at)) return 'last text';
  const words = block === null ? 0 : deliveredWords([block]);
  // Links are made from rows, never from what a model wrote.
  const mayStand = cited === null ? isEditable : isCorrectable;
  if (block !== null && (words === 0 || !keepsLinks(old, block) || !mayStand(block))) return 'invalid';
  const addedWords = words - deliveredWords([old]);
  return { parts: edited, addedWords };
}

/** True for text without a citation: a link out of the article, a reference to a source, or a quote's attribution. */
export const isEditable = (block: Block): boolean => isProse(block) && !hasLink(block) && !hasCitation(block);

/** True for text whose citations are references alone: what stands between them may be corrected. */
export const isCorrectable = (block: Block): boolean =>
  isProse(block) && block.type !== 'quote' && !hasLink(block);

function isProse(block: Block): boolean {
  switch (block.type) {
    case 'quote':
      return block.attribution === undefined;
    case 'paragraph':
    case 'list':
    case 'table':
      return true;
    case 'heading':
    case 'code':
    case 'image':
    case 'divider':
      return false;
  }
}

const hasLink = (block: Block): boolean =>
  collectTexts({ version: 1, blocks: [block] }).some(
    ({ text, markdown }) => markdown && parseInline(text).some(({ link }) => link !== null),
  );

/** True for the only text between two headings, or between a heading and an end of the part. */
function isLastText(blocks: readonly Block[], at: number): boolean {
  const from = blocks.slice(0, at).findLastIndex(isHeading) + 1;
  const next = blocks.slice(at + 1).findIndex(isHeading);
  const to = next === -1 ? blocks.length : at + 1 + next;
  return blocks.slice(from, to).filter(isText).length <= 1;
}

const isHeading = ({ type }: Block): boolean => type === 'heading';
const isText = ({ type }: Block): boolean =>
  type === 'paragraph' || type === 'list' || type === 'quote' || type === 'table';

/** True when each link to an article was there before. */
const keepsLinks = (old: Block, block: Block): boolean =>
  linksOf(block).every((link) =>
    linksOf(old).some(({ text, articleId }) => text === link.text && articleId === link.articleId),
  );

const linksOf = (block: Block): readonly ArticleLink[] => ('links' in block ? (block.links ?? []) : []);

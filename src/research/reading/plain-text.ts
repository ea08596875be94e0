/** The text of a tree of elements, by paragraphs. */
import { firstCodePoints } from '../../document/text/characters.ts';
import { MAX_TEXT } from './page.ts';

/** What this needs of a DOM. */
export interface TreeNode {
  readonly nodeType: number;
  readonly nodeName: string;
  readonly nodeValue: string | null;
  readonly firstChild: TreeNode | null;
  readonly nextSibling: TreeNode | null;
}

const TEXT_NODE = 3;
const ELEMENT_NODE = 1;
/** Elements whose text stands in the line around them. */
const INLINE = new Set(
  'A ABBR B BDI BDO CITE CODE DATA DEL DFN EM FONT I INS KBD LABEL MARK Q S SAMP SMALL SPAN STRONG SUB SUP TIME U VAR WBR'.split(
    ' ',
  ),
);
const WITHOUT_TEXT = new Set(
  'SCRIPT STYLE NOSCRIPT TEMPLATE SVG MATH BUTTON SELECT TEXTAREA IFRAME OBJECT'.split(' '),
);
const CELLS = new Set(['TD', 'TH']);

/** Marks that are not seen: controls, directions, joiners without effect, tags (in which texts can hide). */
const INVISIBLE = /[\p{Cc}\u00AD\u200B\u200E\u200F\u202A-\u202E\u2060-\u2069\uFEFF\u{E0000}-\u{E007F}]+/gu;

/** A line as it is stored: no invisible marks, one space where there was any white space. */
export const oneLine = (text: string): string =>
  text.replace(/\s+/gu, ' ').replace(INVISIBLE, '').replace(/ {2,}/g, ' ').trim().toWellFormed();

/** The line, cut after `most` characters. Of a longer text no more is looked at than four times as many. */
export const shortLine = (text: string | null | undefined, most: number): string =>
  firstCodePoints(oneLine((text ?? '').slice(0, most * 4)), most);

/** Paragraphs divided by an empty line; cells of a row by ` | `. At most MAX_TEXT characters, cut after a paragraph. */
export function plainText(root: TreeNode): string {
  const paragraphs: string[] = [];
  let length = 0;
  let line = '';
  const endLine = (): void => {
    const paragraph = oneLine(line);
    line = '';
    if (paragraph === '' || length + paragraph.length > MAX_TEXT) {
      if (paragraph !== '') length = MAX_TEXT;
      return;
    }
    paragraphs.push(paragraph);
    length += paragraph.length + 2;
  };
  const walk = (node: TreeNode): void => {
    if (length >= MAX_TEXT) return;
    if (node.nodeType === TEXT_NODE) line += node.nodeValue ?? '';
    if (node.nodeType !== ELEMENT_NODE) return;
    const name = node.nodeName.toUpperCase();
    if (WITHOUT_TEXT.has(name)) return;
    const isCell = CELLS.has(name);
    const isBlock = !isCell && !INLINE.has(name) && name !== 'BR';
    if (isBlock) endLine();
    if (isCell && line.trim() !== '') line += ' | ';
    if (name === 'BR') line += ' ';
    for (let child = node.firstChild; child !== null; child = child.nextSibling) walk(child);
    if (isBlock) endLine();
  };
  walk(root);
  endLine();
  return paragraphs.join('\n\n');
}

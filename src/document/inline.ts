/**
 * The limited inline Markdown of text fields with format `markdown`: bold, italic, inline code, links, autolinks,
 * escaped characters and character references (interface.md, Document format 1). Everything else is text as
 * written; raw HTML is text too. Emphasis next to Chinese, Japanese and Korean punctuation works.
 */
import type { PhrasingContent } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { cjkFriendlyExtension } from 'micromark-extension-cjk-friendly';
import { type InlineRun, type Marks, NO_MARKS, normalizeRuns, runsText, textRun } from './runs.ts';
import { isAllowedLinkUrl } from './urls.ts';

/** Every construct of CommonMark that is not in the subset. */
const DISABLED = [
  'headingAtx',
  'setextUnderline',
  'list',
  'blockQuote',
  'codeFenced',
  'codeIndented',
  'thematicBreak',
  'htmlFlow',
  'htmlText',
  'definition',
  'labelStartImage',
  'hardBreakEscape',
];
const EXTENSIONS = [cjkFriendlyExtension(), { disable: { null: DISABLED } }];

/** Emphasis marks (`*`, `_`) one paragraph may hold: pairing them costs the parser quadratic time. */
export const MAX_EMPHASIS_MARKS = 2000;

const SPECIAL = /[\\`*_[<&]/;

/**
 * Parses a `markdown` text field into normalised runs. A line break in the field is a line break in the text.
 * Links to addresses that are not allowed become plain text.
 */
export function parseInline(markdown: string): InlineRun[] {
  const runs: InlineRun[] = [];
  for (const paragraph of splitParagraphs(markdown)) {
    if (runs.length > 0) runs.push(textRun('\n\n'));
    if (SPECIAL.test(paragraph)) {
      for (const block of fromMarkdown(paragraph, { extensions: EXTENSIONS }).children) {
        if (block.type === 'paragraph') pushRuns(runs, block.children, paragraph);
      }
    } else {
      runs.push(textRun(paragraph.split('\n').map(trimBlanks).join('\n')));
    }
  }
  return normalizeRuns(runs);
}

/** The text of a `markdown` field as shown: no syntax, no link targets. */
export function toPlainText(markdown: string): string {
  return runsText(parseInline(markdown));
}

/** What the format refuses in a `markdown` field, in words; empty when the field is valid. */
export function inlineProblems(markdown: string): string[] {
  const paragraphs = splitParagraphs(markdown);
  if (paragraphs.some((paragraph) => countEmphasisMarks(paragraph) > MAX_EMPHASIS_MARKS)) {
    return [`has more than ${MAX_EMPHASIS_MARKS} emphasis marks in one paragraph`];
  }
  const problems: string[] = [];
  for (const paragraph of paragraphs) {
    if (!paragraph.includes('](')) continue;
    for (const block of fromMarkdown(paragraph, { extensions: EXTENSIONS }).children) {
      if (block.type !== 'paragraph') continue;
      for (const node of descendants(block.children)) {
        if (node.type === 'link' && !isAutolink(node, paragraph) && !isAllowedLinkUrl(node.url)) {
          problems.push('has a link that is not http, https, mailto or relative');
        }
      }
    }
  }
  return problems;
}

function splitParagraphs(markdown: string): string[] {
  const paragraphs: string[] = [];
  let lines: string[] = [];
  for (const line of markdown.replace(/\r\n?/g, '\n').split('\n')) {
    if (trimBlanks(line) !== '') {
      lines.push(line);
    } else if (lines.length > 0) {
      paragraphs.push(lines.join('\n'));
      lines = [];
    }
  }
  if (lines.length > 0) paragraphs.push(lines.join('\n'));
  return paragraphs;
}

/** Trims spaces and tabs only, as CommonMark does; written as loops because a regular expression would be quadratic. */
function trimBlanks(line: string): string {
  let start = 0;
  let end = line.length;
  while (start < end && (line[start] === ' ' || line[start] === '\t')) start += 1;
  while (end > start && (line[end - 1] === ' ' || line[end - 1] === '\t')) end -= 1;
  return line.slice(start, end);
}

function countEmphasisMarks(paragraph: string): number {
  let count = 0;
  for (let index = 0; index < paragraph.length; index += 1) {
    const character = paragraph[index];
    if (character === '\\') index += 1;
    else if (character === '*' || character === '_') count += 1;
  }
  return count;
}

function* descendants(nodes: readonly PhrasingContent[]): Generator<PhrasingContent> {
  const stack = [...nodes].reverse();
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    yield node;
    if ('children' in node) stack.push(...[...node.children].reverse());
  }
}

function isAutolink(node: PhrasingContent, source: string): boolean {
  return source.charAt(node.position?.start.offset ?? -1) === '<';
}

function pushRuns(runs: InlineRun[], nodes: readonly PhrasingContent[], source: string): void {
  const stack: { node: PhrasingContent; marks: Marks }[] = [];
  const push = (children: readonly PhrasingContent[], marks: Marks): void => {
    for (const node of [...children].reverse()) stack.push({ node, marks });
  };
  push(nodes, NO_MARKS);
  for (let entry = stack.pop(); entry !== undefined; entry = stack.pop()) {
    const { node, marks } = entry;
    if (node.type === 'text') {
      runs.push({ kind: 'text', text: node.value, ...marks });
    } else if (node.type === 'inlineCode') {
      runs.push({ kind: 'code', text: node.value, ...marks });
    } else if (node.type === 'break') {
      runs.push({ kind: 'text', text: '\n', ...marks });
    } else if (node.type === 'strong' || node.type === 'emphasis') {
      push(node.children, { ...marks, [node.type]: true });
    } else if (node.type === 'link' && isAllowedLinkUrl(node.url)) {
      push(node.children, { ...marks, link: { url: node.url, title: node.title || null } });
    } else if (node.type === 'link' && isAutolink(node, source)) {
      const written = source.slice(node.position?.start.offset ?? 0, node.position?.end.offset ?? 0);
      runs.push({ kind: 'text', text: written, ...marks });
    } else if ('children' in node) {
      push(node.children as readonly PhrasingContent[], marks);
    }
  }
}

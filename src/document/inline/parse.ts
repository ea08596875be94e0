/**
 * The limited inline Markdown of text fields with format `markdown`: bold, italic, inline code, links, autolinks,
 * escaped characters and character references (contract.md F2). Everything else is text as
 * written; raw HTML is text too. Emphasis next to Chinese, Japanese and Korean punctuation works.
 */
import type { PhrasingContent } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { cjkFriendlyExtension } from 'micromark-extension-cjk-friendly';
import { codePoints } from '../text/characters.ts';
import { countMarks, MAX_LINK_TITLE, marksProblem } from '../text/marks.ts';
import { isAllowedLinkUrl } from '../text/urls.ts';
import { type InlineRun, type Marks, NO_MARKS, normalizeRuns, runsText, textRun } from './runs.ts';

/** CommonMark constructs outside the subset. */
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

const SPECIAL = /[\\`*_[<&]/;

/** Parsed texts by their Markdown, while `parsingOnce` runs. */
let known: Map<string, ParsedInline> | null = null;

/** A parsed `markdown` text, and the problems with it. */
export interface ParsedInline {
  readonly runs: readonly InlineRun[];
  /** Worded for clients; empty when the text is valid. */
  readonly problems: readonly string[];
}

/**
 * While `work` runs, each text is parsed once, however often a document is read on its way. Equal texts share their links.
 * @param work must be synchronous
 * @param texts in their parsed form, where it is known already
 */
export function parsingOnce<Result>(work: () => Result, texts?: ReadonlyMap<string, ParsedInline>): Result {
  if (known !== null) return work();
  known = new Map(texts);
  try {
    return work();
  } finally {
    known = null;
  }
}

/**
 * Parses a `markdown` text field into normalised runs. A line break in the field is a line break in the text.
 * Links to addresses that are not allowed become plain text and are reported as problems.
 */
export function parseText(markdown: string): ParsedInline {
  const before = known?.get(markdown);
  if (before !== undefined) return before;
  const parsed = parseAlone(markdown);
  // What has no marks costs less to parse than to keep.
  if (SPECIAL.test(markdown)) known?.set(markdown, parsed);
  return parsed;
}

function parseAlone(markdown: string): ParsedInline {
  const runs: InlineRun[] = [];
  const problems: string[] = [];
  for (const paragraph of splitParagraphs(markdown)) {
    if (runs.length > 0) runs.push(textRun('\n\n'));
    if (SPECIAL.test(paragraph)) {
      for (const block of fromMarkdown(paragraph, { extensions: EXTENSIONS }).children) {
        if (block.type === 'paragraph') pushRuns(runs, problems, block.children, paragraph);
      }
    } else {
      runs.push(textRun(trimLines(paragraph)));
    }
  }
  return { runs: normalizeRuns(runs), problems };
}

/** The runs of a `markdown` text field. */
export function parseInline(markdown: string): readonly InlineRun[] {
  return parseText(markdown).runs;
}

/** The text of a `markdown` field as shown: no syntax, no link targets. */
export function toPlainText(markdown: string): string {
  return runsText(parseInline(markdown));
}

/** Counts the marks of the text in linear time; `problem` says why it is too costly to parse, or is null. */
export function weighInline(markdown: string): { marks: number; problem: string | null } {
  let marks = 0;
  for (const paragraph of splitParagraphs(markdown)) {
    const counted = countMarks(paragraph);
    marks += counted.all;
    const problem = marksProblem(counted);
    if (problem !== null) return { marks, problem };
  }
  return { marks, problem: null };
}

/** The problems with a `markdown` field, in words; empty when it is valid. */
export function inlineProblems(markdown: string): readonly string[] {
  const { problem } = weighInline(markdown);
  return problem === null ? parseText(markdown).problems : [problem];
}

/** A text without marks as `markdown` shows it: lines trimmed, one empty line between paragraphs. */
export function normalizeLines(text: string): string {
  return splitParagraphs(text).map(trimLines).join('\n\n');
}

const trimLines = (paragraph: string): string => paragraph.split('\n').map(trimBlanks).join('\n');

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

/** Trims spaces and tabs only, as CommonMark does. Loops, because a regular expression would be quadratic. */
function trimBlanks(line: string): string {
  let start = 0;
  let end = line.length;
  while (start < end && (line[start] === ' ' || line[start] === '\t')) start += 1;
  while (end > start && (line[end - 1] === ' ' || line[end - 1] === '\t')) end -= 1;
  return line.slice(start, end);
}

function isAutolink(node: PhrasingContent, source: string): boolean {
  return source.charAt(node.position?.start.offset ?? -1) === '<';
}

function pushRuns(
  runs: InlineRun[],
  problems: string[],
  nodes: readonly PhrasingContent[],
  source: string,
): void {
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
      if (codePoints(node.title ?? '') > MAX_LINK_TITLE) {
        problems.push(`has a link title of more than ${MAX_LINK_TITLE} characters`);
      }
      push(node.children, { ...marks, link: { url: node.url, title: node.title || null } });
    } else if (node.type === 'link' && isAutolink(node, source)) {
      const written = source.slice(node.position?.start.offset ?? 0, node.position?.end.offset ?? 0);
      runs.push({ kind: 'text', text: written, ...marks });
    } else if ('children' in node) {
      if (node.type === 'link') problems.push('has a link that is not http, https, mailto or relative');
      push(node.children as readonly PhrasingContent[], marks);
    }
  }
}

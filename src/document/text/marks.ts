/**
 * Bounds of inline Markdown. Pairing marks takes the parser more than linear time, so the marks of a paragraph are
 * bounded, far above any real text.
 */

/** Marks in one paragraph; blank lines end a paragraph. */
export const MAX_PARAGRAPH_MARKS = 500;
/** Marks times emphasis marks in one paragraph: the parser compares each closing `*` with all marks before it. */
export const MAX_MARK_PAIRS = 40_000;
/** Marks in all Markdown texts of one document. */
export const MAX_DOCUMENT_MARKS = 50_000;
/** Characters of an inline link's title. */
export const MAX_LINK_TITLE = 200;

/** An unended link title counts as this many marks: the parser scans for the end of each. */
const UNENDED_TITLE = 100;
/** A title must end within this many characters to count as ended. */
const TITLE_REACH = 1_000;

const MARK = /[[\]*_`<&\\\n!]/g;
const TITLE_START = /\]\([ \t\n]*(?:<[^<>\n]*>|[^\s<]\S{0,2000})[ \t\n]+(["'(])/g;
const WORD = /[A-Za-z0-9]/;

/** Number of marks in a text, and of emphasis marks among them. */
export interface Marks {
  readonly all: number;
  readonly emphasis: number;
}

/**
 * Counts the marks of one paragraph: `[ ] * _ ` < & \ !` and line ends. An escaped character counts once, with its
 * backslash; `_` inside a word counts, but is not emphasis.
 */
export function countMarks(paragraph: string): Marks {
  let all = 0;
  let emphasis = 0;
  let escaped = -1;
  for (const { 0: mark, index } of paragraph.matchAll(MARK)) {
    if (index === escaped) continue;
    all += 1;
    if (mark === '\\') escaped = index + 1;
    else if (mark === '*' || (mark === '_' && !insideWord(paragraph, index))) emphasis += 1;
  }
  // Beyond the bound the count does not matter, and counting on would be slow.
  if (all <= MAX_PARAGRAPH_MARKS) all += unendedTitles(paragraph) * UNENDED_TITLE;
  return { all, emphasis };
}

function insideWord(text: string, index: number): boolean {
  return WORD.test(text.charAt(index - 1)) && WORD.test(text.charAt(index + 1));
}

function unendedTitles(paragraph: string): number {
  if (!paragraph.includes('](')) return 0;
  let count = 0;
  for (const match of paragraph.matchAll(TITLE_START)) {
    const start = match.index + match[0].length;
    const end = paragraph.indexOf(match[1] === '(' ? ')' : (match[1] ?? ''), start);
    if (end === -1 || end - start > TITLE_REACH) count += 1;
  }
  return count;
}

/** Why a paragraph with these marks is refused, in words; null when it is not. */
export function marksProblem({ all, emphasis }: Marks): string | null {
  if (all > MAX_PARAGRAPH_MARKS) {
    return `has more than ${MAX_PARAGRAPH_MARKS} Markdown marks in one paragraph: ${all}`;
  }
  return all * emphasis > MAX_MARK_PAIRS
    ? `has too many emphasis marks in one paragraph: ${emphasis} among ${all} Markdown marks`
    : null;
}

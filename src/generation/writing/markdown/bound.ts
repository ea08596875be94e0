/** Bounds what a hostile response can cost to parse. No real text reaches the bounds. */
import { countMarks, marksProblem } from '../../../document/text/marks.ts';

/** Characters of a response; what follows is left out. */
export const MAX_CHARACTERS = 65_536;
const MAX_LINES = 3_000;
/** Quotes and lists that begin on one line. The parser compares each with all around it. */
const MAX_CONTAINERS = 8;
const MAX_INDENT = 60;
const MAX_LINE_PIPES = 50;

const FENCE = /^[ \t>]{0,60}(`{3,}|~{3,})/;
const CONTAINERS = /^(?:[ \t]{0,60}(?:>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t]))){9,}/;
/** A line that begins a block of its own: what is before it is parsed apart. */
const BEGINS = /^[ \t]{0,60}(?:$|#{1,6}[ \t]|[-*+][ \t]|\d{1,9}[.)][ \t]|>|\|)/;
const MARKS = /[[\]*_`<&\\!]+/g;

/** Removes characters that a database or a page cannot show. */
export const tidy = (text: string): string =>
  text
    .toWellFormed()
    .replace(/\r\n?/g, '\n')
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u2028\u2029\ufeff\ufffd]+/g, ' ')
    .trim();

/**
 * The text as it may be parsed: cut to so many characters, its nesting flattened, and paragraphs of too many marks without
 * them. Code is left as it is.
 */
export function boundMarkdown(text: string, characters = MAX_CHARACTERS): string {
  const lines = tidy(text.slice(0, Math.min(characters, MAX_CHARACTERS)).toWellFormed())
    .split('\n')
    .slice(0, MAX_LINES);
  const bounded: string[] = [];
  let paragraph: string[] = [];
  let fence: string | null = null;
  const flush = (): void => {
    const text = paragraph.join('\n');
    const isCostly = marksProblem(countMarks(text)) !== null;
    if (paragraph.length > 0) bounded.push(isCostly ? text.replace(MARKS, ' ') : text);
    paragraph = [];
  };
  for (const line of lines) {
    const marker = FENCE.exec(line)?.[1];
    if (fence !== null) {
      bounded.push(line);
      if (marker?.startsWith(fence) === true) fence = null;
    } else if (marker !== undefined) {
      flush();
      fence = marker;
      bounded.push(line);
    } else {
      if (BEGINS.test(line)) flush();
      paragraph.push(flatten(line));
    }
  }
  flush();
  return bounded.join('\n');
}

/** The line with at most so many containers, spaces before it, and cells. */
function flatten(line: string): string {
  const indent = line.length - line.trimStart().length;
  const shown = indent > MAX_INDENT ? line.slice(indent - MAX_INDENT) : line;
  if (CONTAINERS.test(shown)) return shown.replace(/^[\s>*+\-\d.)]+/, '> '.repeat(MAX_CONTAINERS));
  return shown.split('|').length > MAX_LINE_PIPES ? shown.replaceAll('|', ' ') : shown;
}

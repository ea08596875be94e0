/**
 * Cuts a Markdown file into parts that parse independently. The parser's time grows with the square of the number of
 * containers (quotes, lists) in one text, so long files are parsed in parts.
 */

/** Characters after which a part may end: small enough for the parser, large enough for little overhead. */
const PART_SIZE = 8_000;

const FENCE = /^( {0,3})(`{3,}|~{3,})(.*)$/;
const RAW_HTML: readonly (readonly [RegExp, RegExp])[] = [
  [/^ {0,3}<(?:pre|script|style|textarea)(?:\s|>|$)/i, /<\/(?:pre|script|style|textarea)>/i],
  [/^ {0,3}<!--/, /-->/],
  [/^ {0,3}<\?/, /\?>/],
  [/^ {0,3}<!\[CDATA\[/, /\]\]>/],
  [/^ {0,3}<![a-z]/i, />/],
];
/**
 * A line that cannot continue a list: not blank, not indented, no list marker. A cut is safe only between a blank line
 * and such a line.
 */
const FRESH = /^(?![ \t]|$|[-+*](?:[ \t]|$)|\d{1,9}[.)](?:[ \t]|$))/;

interface Fence {
  readonly indent: number;
  readonly marker: string;
}

/** The parts of the file in order. Joined with line ends they give the file. */
export function splitMarkdown(source: string): string[] {
  const parts: string[] = [];
  let part: string[] = [];
  let size = 0;
  let fence: Fence | null = null;
  let htmlEnd: RegExp | null = null;
  let blank = false;
  let certain = true;
  for (const line of source.split(/\r\n?|\n/)) {
    if (blank && certain && fence === null && htmlEnd === null && size >= PART_SIZE && FRESH.test(line)) {
      parts.push(part.join('\n'));
      part = [];
      size = 0;
    }
    part.push(line);
    size += line.length + 1;
    blank = /^[ \t]*$/.test(line);
    if (fence !== null) {
      // Inside a list item a less indented line ends the item and its code; elsewhere it does not. Do not cut after it.
      if (!blank && !line.startsWith(' '.repeat(fence.indent))) certain = false;
      if (closes(line, fence)) fence = null;
    } else if (htmlEnd !== null) {
      if (htmlEnd.test(line)) htmlEnd = null;
    } else {
      fence = opens(line);
      htmlEnd = RAW_HTML.find(([start, end]) => start.test(line) && !end.test(line))?.[1] ?? null;
    }
  }
  parts.push(part.join('\n'));
  return parts;
}

function opens(line: string): Fence | null {
  const match = FENCE.exec(line);
  const marker = match?.[2] ?? '';
  if (marker === '' || (marker.startsWith('`') && match?.[3]?.includes('`'))) return null;
  return { indent: match?.[1]?.length ?? 0, marker };
}

function closes(line: string, fence: Fence): boolean {
  const match = FENCE.exec(line);
  return match?.[2]?.startsWith(fence.marker) === true && match[3]?.trim() === '';
}

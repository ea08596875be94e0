/**
 * Addresses inside article text: which ones a link may have, and which ranges of text are addresses or
 * placeholders that a translation must not change.
 */

const ALLOWED_SCHEMES: ReadonlySet<string> = new Set(['http', 'https', 'mailto']);

/**
 * True for the link targets the document format allows: http, https, mailto and relative addresses
 * (contract.md F3). Characters that browsers ignore before they read a scheme are ignored here too.
 */
export function isAllowedLinkUrl(url: string): boolean {
  if (url.startsWith('https://')) return true;
  const read = url.replace(/[\u0000-\u0020\u007f-\u00a0\u2028\u2029\ufeff]/g, '');
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(read)?.[1];
  return scheme === undefined || ALLOWED_SCHEMES.has(scheme.toLowerCase());
}

/** True for addresses an image may be loaded from: http, https and relative ones. */
export function isAllowedImageUrl(url: string): boolean {
  return isAllowedLinkUrl(url) && !/^\s*mailto:/i.test(url);
}

/** Percent-encodes white space and control characters. Once escaped, safe in a quoted HTML attribute. */
export function encodeUrl(url: string): string {
  return url.toWellFormed().replace(/[\u0000-\u0020"<>\\^`{|}\u007f-\uffff]+/g, encodeURIComponent);
}

/** A half-open range of UTF-16 offsets. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

const ADDRESS = /(?:https?:\/\/|ftp:\/\/|mailto:|www\.)[\w\-.~:/?#[\]@!$&'()*+,;=%\p{L}\p{M}\p{N}]+/giu;
const PLACEHOLDER = /\{\{[^{}\n]{1,100}\}\}|\$\{[^{}\n]{1,100}\}/g;
const CONTROL = /[\u0001-\u0008\u000b-\u001f\u007f\ufffe\uffff]+/g;
const TRAILING = new Set('.,;:!?\'")]*_~');
const LOCAL_PART = /[\w.+%-]/;
const DOMAIN = /^[a-z0-9-]+(?:\.[a-z0-9-]+)+/i;

/**
 * The ranges of plain text that a translation must keep byte for byte: bare addresses, e-mail addresses,
 * template placeholders and control characters. Sorted, without overlaps.
 */
export function findLiterals(text: string): TextRange[] {
  const found: TextRange[] = [];
  for (const match of text.matchAll(ADDRESS)) {
    let end = match.index + match[0].length;
    while (
      end > match.index &&
      TRAILING.has(text.charAt(end - 1)) &&
      !closesBracket(text, match.index, end)
    ) {
      end -= 1;
    }
    found.push({ start: match.index, end });
  }
  for (let at = text.indexOf('@'); at !== -1; at = text.indexOf('@', at + 1)) {
    const range = emailAround(text, at);
    if (range !== null) found.push(range);
  }
  for (const pattern of [PLACEHOLDER, CONTROL]) {
    for (const match of text.matchAll(pattern)) {
      found.push({ start: match.index, end: match.index + match[0].length });
    }
  }
  found.sort((a, b) => a.start - b.start || b.end - a.end);
  const result: TextRange[] = [];
  let last = 0;
  for (const range of found) {
    if (range.start < last || range.end <= range.start) continue;
    result.push(range);
    last = range.end;
  }
  return result;
}

/** True for `…/Foo_(bar)`, false for `(see https://a.example)`. Looks back at most 200 characters. */
function closesBracket(text: string, start: number, end: number): boolean {
  const last = text.charAt(end - 1);
  if (last !== ')' && last !== ']') return false;
  const open = last === ')' ? '(' : '[';
  let depth = 0;
  for (let index = end - 1; index >= Math.max(start, end - 200); index -= 1) {
    const character = text.charAt(index);
    if (character === last) depth += 1;
    else if (character === open) depth -= 1;
    if (depth === 0) return true;
  }
  return false;
}

function emailAround(text: string, at: number): TextRange | null {
  let start = at;
  while (start > 0 && at - start < 64 && LOCAL_PART.test(text.charAt(start - 1))) start -= 1;
  if (start === at) return null;
  const domain = DOMAIN.exec(text.slice(at + 1, at + 256))?.[0];
  return domain === undefined ? null : { start, end: at + 1 + domain.length };
}

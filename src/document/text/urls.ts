/**
 * Addresses inside article text: which ones a link may have, and which ranges of text are addresses that a translation
 * must not change.
 */

import type { TextRange } from './placeholders.ts';

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

/** Characters of scripts without spaces between words, Korean and full-width forms: prose follows an address directly. */
const UNSPACED = String.raw`\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}\uff00-\uffef`;
const ADDRESS_CHARACTER = String.raw`[\w\-.~:\/?#\[\]@!$&'\(\)*+,;=%\p{L}\p{M}\p{N}]`;
/** Scheme, and what may belong to the address; behind the first wide character a bounded part of it. */
const ADDRESS = new RegExp(
  String.raw`((?:https?|ftp):\/\/|mailto:|(?<![[\p{L}\p{M}\p{N}_@.\-]--[${UNSPACED}]])www\.)[${ADDRESS_CHARACTER}--[${UNSPACED}]]*(?:[[${UNSPACED}]&&${ADDRESS_CHARACTER}]${ADDRESS_CHARACTER}{0,500})?`,
  'giv',
);
const WIDE = new RegExp(`[${UNSPACED}]`, 'v');
const HANGUL = /\p{sc=Hangul}/u;
/** What sets off an address from the text before and behind it. */
const OPENS = /^$|^[\s([{<"'“‘«（「『【《〈|]$/u;
const CLOSES = /^$|^[\s}>"”’»）」』】》〉|]$/u;
const TRAILING = new Set('.,;:!?\'")]*_~');
const LOCAL_PART = /[\w.+%-]/;
const DOMAIN = /^[a-z0-9-]+(?:\.[a-z0-9-]+)+/i;

/**
 * The ranges of bare addresses and e-mail addresses in a plain text, unsorted and perhaps overlapping. Prose that
 * follows without a space, as in Chinese, Japanese and Korean, is not part of an address (contract.md V36).
 */
export function findAddresses(text: string): TextRange[] {
  const found: TextRange[] = [];
  ADDRESS.lastIndex = 0;
  for (let match = ADDRESS.exec(text); match !== null; match = ADDRESS.exec(text)) {
    const { index, 0: widest, 1: scheme = '' } = match;
    const from = index + scheme.length;
    const isSetOff = {
      before: OPENS.test(text.charAt(index - 1)),
      behind: CLOSES.test(text.charAt(ADDRESS.lastIndex)),
    };
    const rest = widest.slice(scheme.length);
    const length = addressLength(rest, scheme.toLowerCase() !== 'mailto:', isSetOff);
    let end = from + length;
    // The next address may begin right behind the prose that follows this one.
    ADDRESS.lastIndex = end;
    if (length === 0) continue;
    while (end > index && TRAILING.has(text.charAt(end - 1)) && !closesBracket(text, index, end)) end -= 1;
    found.push({ start: index, end });
  }
  for (let at = text.indexOf('@'); at !== -1; at = text.indexOf('@', at + 1)) {
    const range = emailAround(text, at);
    if (range !== null) found.push(range);
  }
  return found;
}

interface SetOff {
  readonly before: boolean;
  readonly behind: boolean;
}

/** How much of what stands behind a scheme is the address. */
function addressLength(rest: string, hasHost: boolean, isSetOff: SetOff): number {
  const host = hasHost ? (/^[^/?#]*/.exec(rest)?.[0] ?? '') : '';
  const length = hostLength(host, isSetOff);
  if (length < host.length) return length;
  const path = rest.slice(length);
  const wide = path.search(WIDE);
  return wide === -1 || isOfPath(path, wide, isSetOff) ? rest.length : length + wide;
}

/** How much of `host` is one: `例え.jp` and `example.中国` are, `example.comを` and `example.com.を` end before the を. */
function hostLength(host: string, isSetOff: SetOff): number {
  const labels = host.split('.');
  const first = labels[0]?.toLowerCase() === 'www' ? 1 : 0;
  let at = 0;
  for (const [place, label] of labels.entries()) {
    const wide = label.search(WIDE);
    const isLast = place === labels.length - 1;
    if (wide > 0 && !(place === first && !isLast && isSetOff.before && isSetOff.behind)) return at + wide;
    const follows = place > first + 1 && !WIDE.test(labels[place - 1] ?? '');
    if (wide === 0 && (follows || labels.length === 1)) return Math.max(0, at - 1);
    at += label.length + 1;
  }
  return host.length;
}

/** Whether a path goes on at `wide`, with a character of a script that also writes prose there. */
function isOfPath(path: string, wide: number, { before, behind }: SetOff): boolean {
  const isRoot = wide <= 1;
  const beginsPart = /[/=_]/.test(path.charAt(wide - 1));
  if (HANGUL.test(path.charAt(wide)) && (isRoot || !beginsPart)) return false;
  // `/wiki/日本` before a full stop; who writes no space before an address writes none behind it.
  return before && (behind || (beginsPart && !isRoot));
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

/** Cuts addresses that only a model wrote: it cannot know where they lead. */
import { findAddresses } from '../../../document/text/urls.ts';

/** Top-level domains that names of files, properties and packages in code do not end with. */
const ENDINGS_IN_CODE = 'com|org|net|edu|gov|io|example';
const LABEL = '[\\p{L}\\p{N}](?:[\\p{L}\\p{N}-]{0,61}[\\p{L}\\p{N}])?';
/** A host with a path and without a scheme. */
const bare = (endings: string): RegExp =>
  new RegExp(
    `(?<![\\p{L}\\p{N}_@.\\-/:])((?:${LABEL}\\.){1,10}(?:${endings})(?::\\d{1,5})?)(\\/[^\\s<>"'\`()\\[\\]{}|]{1,2000})`,
    'giu',
  );
const BARE = bare('[a-z]{2,10}|\\p{L}{2,10}');
const BARE_IN_CODE = bare(ENDINGS_IN_CODE);
/** Names that look like hosts but are not. */
const NO_HOST = /^(?:asp|ado|vb|ml)\.net$|^\p{L}{1,20}\.(?:js|ts|md|txt|html?|css|json|ya?ml|py|rb|go|sh)$/iu;
/** An address of a host without its scheme: `//host/path`. */
const WITHOUT_SCHEME = /(?<![\p{L}\p{N}:/])\/\/(?=[\p{L}\p{N}-]{1,63}\.[\p{L}\p{N}])/gu;
const SCHEME = /^(?:https?|ftp):\/\//i;
/** What leads nowhere else than to the reader's own machine. */
const LOCAL = /^(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\])(?::\d{1,5})?$/i;
/** A package and its version: `react@18.2.0`. */
const VERSION = /^[\w.+%-]+@\d+(?:\.\d+)+(?:-[\w.-]{1,50})?$/;
const LEFT_OVER = /(?:https?|ftp):\/\/|mailto:/gi;

/** The form in which addresses are compared: without scheme and final slash. */
const bareAddress = (address: string): string =>
  address
    .toLowerCase()
    .replace(/^(?:(?:https?|ftp):\/\/|mailto:|\/\/)/, '')
    .replace(/^www\./, '')
    .replace(/[/.,;:!?]{1,10}$/, '');

/** The addresses in texts that the customer wrote, in the form they are compared in. */
export function addressesIn(texts: readonly string[]): ReadonlySet<string> {
  const found = texts.flatMap((text) => [
    ...findAddresses(text).map(({ start, end }) => text.slice(start, end)),
    ...[...text.matchAll(BARE)].map(([address]) => address),
  ]);
  return new Set(found.map(bareAddress));
}

export interface CutText {
  readonly text: string;
  /** Addresses that were cut. */
  readonly cut: number;
}

/**
 * A text in which each address that is not allowed is cut to its host, and each such e-mail address removed (contract.md G57).
 * A host without a path stays.
 * @param allowed as `addressesIn` returns them
 */
export function cutAddresses(text: string, allowed: ReadonlySet<string>, code = false): CutText {
  if (!/[@/]|www\.|mailto:/i.test(text)) return { text, cut: 0 };
  let cut = 0;
  const replace = (address: string): string => {
    if (allowed.has(bareAddress(address))) return address;
    const short = shorten(address);
    if (short !== address) cut += 1;
    return short;
  };
  let shown = replaceRanges(text, (literal) => replace(literal), code);
  if (!code) {
    shown = shown.replace(WITHOUT_SCHEME, () => {
      cut += 1;
      return '';
    });
  }
  shown = shown.replace(code ? BARE_IN_CODE : BARE, (whole: string, host: string) => {
    if (NO_HOST.test(host) || allowed.has(bareAddress(whole))) return whole;
    cut += 1;
    return host;
  });
  return cut === 0
    ? { text, cut }
    : { text: code ? shown : closeGaps(withoutLeftOvers(shown, allowed)), cut };
}

/** The host of a web address, nothing of an e-mail address. */
function shorten(address: string): string {
  if (!SCHEME.test(address) && !/^www\./i.test(address)) return '';
  const authority = address.replace(SCHEME, '').split(/[/?#]/, 1).join('');
  const host = authority.slice(authority.lastIndexOf('@') + 1).replace(/^www\./i, '');
  return LOCAL.test(host) ? address : host;
}

/** Replaces each address; those that overlap are one. */
function replaceRanges(text: string, replace: (literal: string) => string, code: boolean): string {
  const ranges: { start: number; end: number }[] = [];
  for (const { start, end } of findAddresses(text).toSorted((one, other) => one.start - other.start)) {
    const before = ranges.at(-1);
    if (before !== undefined && start < before.end) before.end = Math.max(before.end, end);
    else ranges.push({ start, end });
  }
  const parts: string[] = [];
  let at = 0;
  for (const { start, end } of ranges) {
    const literal = text.slice(start, end);
    if (code && VERSION.test(literal)) continue;
    parts.push(text.slice(at, start), replace(literal));
    at = end;
  }
  return `${parts.join('')}${text.slice(at)}`;
}

/** What was cut may have left another address behind, which no real text does: `https://` goes from all of it. */
function withoutLeftOvers(text: string, allowed: ReadonlySet<string>): string {
  const isLeft = findAddresses(text).some(
    ({ start, end }) => !allowed.has(bareAddress(text.slice(start, end))),
  );
  return isLeft
    ? text.replace(LEFT_OVER, ' ').replaceAll('://', ' ').replaceAll('@', ' ').replace(/www\./gi, ' ')
    : text;
}

/** Closes the gap that a removed address left before a space or a full stop. */
const closeGaps = (text: string): string =>
  text.replace(/ {2,100}/g, ' ').replace(/ (?=[.,;!?](?:\s|$))/g, '');

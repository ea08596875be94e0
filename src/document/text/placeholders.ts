/**
 * Finds what software puts values into or expands: format placeholders, ICU arguments, shortcodes, and character
 * references that a text shows. Prose in brackets, percentages and footnotes are not among them.
 */

/** A half-open range of UTF-16 offsets. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

const NAME = '[A-Za-z_$][\\w$]{0,60}';
const PATTERNS: readonly RegExp[] = [
  // {{x}}, {{{x}}}, ${x}, {}
  /\{{2,3}[^{}\n]{1,100}\}{2,3}|\$\{[^{}\n]{1,100}\}|\{\}/g,
  // {name}, {0}, {user.name}, {list[0]}, {price:.2f}, {name!r}, %{name}: no space, so no prose
  new RegExp(`%?\\{(?:${NAME}|\\d{1,3})(?:[.-]${NAME}|\\[\\w{1,30}\\]){0,8}(?:[:!][^\\s{}]{1,30})?\\}`, 'g'),
  // %1$s, %.2f, %05d, %(name)s; "50%d" and "%20d" of an address are none
  /(?<![\p{N}\p{Script=Latin}%])%(?:\d{1,2}\$[-+0#']?\d{0,3}(?:\.\d{1,2})?(?:hh?|ll?|[Lqjzt])?[diufFeEgGxXoscp@]|\(\w{1,60}\)[sdifr])/gu,
  // %s, %d, %ld, %.2f: alone, so that "25 %d’eau" and "50 %discount" stay prose
  /(?<![\p{N}%]|\p{N}\s)%[-+0#]?(?:(?<!\p{Script=Latin}%[-+0#]?)\d{1,3})?(?:\.\d{1,2})?(?:hh?|ll?|[qjzt])?[dsufixc@](?![\p{Script=Latin}\p{N}_%])/gu,
  // &amp; as words of the text
  /&(?:[A-Za-z]{2,10}\d{0,2}|#\d{1,7}|#[xX][\dA-Fa-f]{1,6});/g,
  // [/gallery]
  /\[\/[A-Za-z][\w-]{0,40}\]/g,
  // [gallery ids="1,2" columns=3], [gallery /]
  /\[[A-Za-z][\w-]{1,40}(?:\s+[\w-]{2,40}=(?:"[^"\n]{0,300}"|'[^'\n]{0,300}'|[^\s"'[\]]{1,100})){1,20}\s*\/?\]|\[[A-Za-z][\w-]{1,40}\s*\/\]/g,
];

const CLOSING = /\[\/([A-Za-z][\w-]{0,40})\]/g;
/** [b], [url=…], [caption a b]; counts where the text has its [/b], too. */
const OPENING = /\[([A-Za-z][\w-]{0,40})(?:[=\s][^[\]\n]{0,300})?\]/g;

const ICU_HEAD =
  /\{\s{0,9}[A-Za-z_\d][\w.]{0,60}\s{0,9},\s{0,9}(?:plural|selectordinal|select|number|date|time|spellout|ordinal|duration)\s{0,9}(?=[,}])/g;
/** Characters of an ICU argument; a longer one counts as prose. */
const MAX_ICU = 1_000;

/** The ranges of placeholders, unsorted and perhaps overlapping. The time is linear in the text's length. */
export function findPlaceholders(text: string): TextRange[] {
  // Most texts have none.
  if (!/[{%&[]/.test(text)) return [];
  const found: TextRange[] = [];
  for (const pattern of PATTERNS) {
    for (const { index, 0: match } of text.matchAll(pattern)) {
      found.push({ start: index, end: index + match.length });
    }
  }
  const closed = new Set([...text.matchAll(CLOSING)].map(([, name]) => name));
  if (closed.size > 0) {
    for (const { index, 0: match, 1: name } of text.matchAll(OPENING)) {
      if (closed.has(name)) found.push({ start: index, end: index + match.length });
    }
  }
  for (const { index } of text.matchAll(ICU_HEAD)) {
    const end = endOfBraces(text, index);
    if (end !== null) found.push({ start: index, end });
  }
  return found;
}

/** The end of the braces that open at `start`; null when they do not close. */
function endOfBraces(text: string, start: number): number | null {
  let depth = 0;
  for (let at = start; at < text.length && at < start + MAX_ICU; at += 1) {
    const character = text.charAt(at);
    if (character === '{') depth += 1;
    else if (character === '}') depth -= 1;
    if (depth === 0) return at + 1;
  }
  return null;
}

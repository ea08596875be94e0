import { Parser } from 'htmlparser2';

/** As deep as browsers build a tree. Deeper ones hold parsers for minutes. */
const MAX_DEPTH = 512;
/** Characters scanned before the depth is looked at. */
const STEP = 64 * 1024;
/** What may stand before the body without beginning it. */
const OF_HEAD = new Set('html head title meta link base style script noscript template'.split(' '));
const ROOTS = new Set(['html', 'head']);
const ROOT_TAGS = /<(?:\/?(?:html|head)\b|!doctype\b)[^<>]*>/gi;

/**
 * A page with the html, head and body elements that pages may leave out and the parser does not add; null when elements stand
 * deeper in each other than 512 (contract.md N6). Linear; builds no tree.
 */
export function withBody(html: string): string | null {
  let depth = 0;
  let deepest = 0;
  let inHead = 0;
  let hasBody = false;
  let bodyAt: number | null = null;
  const parser = new Parser({
    onopentag(name) {
      depth += 1;
      deepest = Math.max(deepest, depth);
      if (name === 'body') hasBody = true;
      if (!OF_HEAD.has(name)) bodyAt ??= parser.startIndex;
      else if (!ROOTS.has(name)) inHead += 1;
    },
    onclosetag(name) {
      depth -= 1;
      if (OF_HEAD.has(name) && !ROOTS.has(name)) inHead -= 1;
    },
    ontext(text) {
      if (inHead === 0 && text.trim() !== '') bodyAt ??= parser.startIndex;
    },
  });
  for (let at = 0; at < html.length && deepest <= MAX_DEPTH; at += STEP)
    parser.write(html.slice(at, at + STEP));
  if (deepest > MAX_DEPTH) return null;
  if (hasBody) return html;
  const start = bodyAt ?? html.length;
  const head = html.slice(0, start).replace(ROOT_TAGS, '');
  return `<!doctype html><html><head>${head}</head><body>${html.slice(start)}</body></html>`;
}

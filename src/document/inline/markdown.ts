/** Writes runs as limited inline Markdown that parses back to exactly the same runs. */
import { parseInline, weighInline } from './parse.ts';
import {
  equalRuns,
  type InlineNode,
  type InlineRun,
  type LinkTarget,
  nestRuns,
  normalizeRuns,
  runsText,
  textRun,
} from './runs.ts';

/** How emphasis is written. `encode` turns the characters around it into character references. */
interface Style {
  readonly strong: string;
  readonly emphasis: string;
  readonly encode: boolean;
}

/** From the most readable to the one that always parses: different markers, only punctuation around them. */
const STYLES = [
  { strong: '**', emphasis: '*', encode: false },
  { strong: '**', emphasis: '_', encode: false },
  { strong: '__', emphasis: '*', encode: true },
] as const satisfies readonly Style[];

type Token =
  | { readonly type: 'open' | 'close' | 'raw'; readonly text: string; readonly link: boolean }
  | { readonly type: 'text'; readonly text: string; readonly depth: number };

/**
 * Limited inline Markdown for the runs. Every candidate is parsed again and compared with the runs. Bold or italic that
 * Markdown cannot express is dropped. A text with too many marks loses its emphasis, then its links and code; the
 * characters shown never change.
 */
export function serializeInline(runs: readonly InlineRun[]): string {
  const wanted = normalizeRuns(runs);
  for (const style of STYLES) {
    const markdown = write(wanted, style);
    if (isBounded(markdown) && equalRuns(parseInline(markdown), wanted)) return markdown;
  }
  const calm = write(
    normalizeRuns(wanted.map((run) => ({ ...run, strong: false, emphasis: false }))),
    STYLES[0],
  );
  return isBounded(calm) ? calm : write([textRun(runsText(wanted))], STYLES[0]);
}

const isBounded = (markdown: string): boolean => weighInline(markdown).problem === null;

function write(runs: readonly InlineRun[], style: Style): string {
  const tokens: Token[] = [];
  pushTokens(tokens, nestRuns(runs), style, 0);
  return writeTokens(tokens, style);
}

function pushTokens(tokens: Token[], nodes: readonly InlineNode[], style: Style, depth: number): void {
  for (const node of nodes) {
    switch (node.type) {
      case 'text':
        tokens.push({ type: 'text', text: node.text, depth });
        break;
      case 'code':
        tokens.push({ type: 'raw', text: codeSpan(node.text), link: false });
        break;
      case 'strong':
      case 'emphasis':
        tokens.push({ type: 'open', text: style[node.type], link: false });
        pushTokens(tokens, node.children, style, depth + 1);
        tokens.push({ type: 'close', text: style[node.type], link: false });
        break;
      case 'link': {
        const short = autolink(node.link, node.children);
        if (short !== null) {
          tokens.push({ type: 'raw', text: short, link: false });
          break;
        }
        tokens.push({ type: 'open', text: '[', link: true });
        pushTokens(tokens, node.children, style, depth + 1);
        tokens.push({ type: 'close', text: `](${destination(node.link)})`, link: true });
      }
    }
  }
}

function codeSpan(text: string): string {
  let longest = 0;
  for (const match of text.matchAll(/`+/g)) longest = Math.max(longest, match[0].length);
  const fence = '`'.repeat(longest + 1);
  const edge = text.startsWith('`') || text.endsWith('`');
  const padded = edge || (text.startsWith(' ') && text.endsWith(' ') && text.trim() !== '');
  return padded ? `${fence} ${text} ${fence}` : fence + text + fence;
}

function autolink(link: LinkTarget, children: readonly InlineNode[]): string | null {
  const [child] = children;
  if (link.title || children.length !== 1 || child?.type !== 'text') return null;
  const address = child.text;
  if (link.url === address && /^(?:https?|mailto):[^\s<>\\\u0000-\u0020]+$/i.test(address))
    return `<${address}>`;
  const email =
    link.url === `mailto:${address}` &&
    /^[\w.+-]{1,64}@[a-z0-9-]{1,60}(?:\.[a-z0-9-]{1,60}){1,4}$/i.test(address);
  return email ? `<${address}>` : null;
}

/** Address and title as written in the parentheses of a link or image. */
export function destination(link: LinkTarget): string {
  const url = protectReferences(link.url);
  const simple = url !== '' && !/[\s<\\\u0000-\u0020\u007f]/.test(url) && balanced(url);
  const target = simple ? url : `<${url.replace(/[\\<>]/g, '\\$&').replace(/[\n\r]/g, reference)}>`;
  if (!link.title) return target;
  const title = protectReferences(link.title)
    .replace(/[\\"]/g, '\\$&')
    .replace(/[\n\r]/g, reference);
  return `${target} "${title}"`;
}

function protectReferences(text: string): string {
  return text.replace(/&(?=#?\w{1,40};)/g, '&amp;');
}

function balanced(url: string): boolean {
  if (!/[()]/.test(url)) return true;
  let depth = 0;
  for (const character of url) {
    if (character === '(') depth += 1;
    else if (character === ')') depth -= 1;
    if (depth < 0 || depth > 30) return false;
  }
  return depth === 0;
}

function reference(character: string): string {
  return `&#x${(character.codePointAt(0) ?? 0).toString(16).toUpperCase()};`;
}

function writeTokens(tokens: readonly Token[], style: Style): string {
  const parts: string[] = [];
  tokens.forEach((token, index) => {
    if (token.type !== 'text') {
      parts.push(token.text);
      return;
    }
    const before = tokens[index - 1];
    const after = tokens[index + 1];
    const characters = [...token.text];
    characters.forEach((character, at) => {
      const first = at === 0;
      const last = at === characters.length - 1;
      const touches =
        style.encode && ((first && before?.type === 'close') || (last && after?.type === 'open'));
      if (touches && !/[\s!-/:-@[-`{-~]/.test(character)) {
        parts.push(reference(character));
        return;
      }
      const previous = first ? (before === undefined ? null : '*') : (characters[at - 1] ?? null);
      const next = last ? (after === undefined ? null : '*') : (characters[at + 1] ?? null);
      const opensLink = last && after?.type === 'open' && after.link;
      const far = { before: characters[at - 2] ?? previous, after: characters[at + 2] ?? next };
      parts.push(escapeCharacter(character, previous, next, far, token.depth, opensLink));
    });
  });
  return parts.join('');
}

/** Escapes one character of text; `previous` and `next` are null at the edges of the field. */
function escapeCharacter(
  character: string,
  previous: string | null,
  next: string | null,
  far: { before: string | null; after: string | null },
  depth: number,
  opensLink: boolean,
): string {
  switch (character) {
    case '\\':
    case '`':
    case '*':
    case '[':
    case ']':
    case '<':
      return `\\${character}`;
    case '_':
      return isWord(previous) && isWord(next) ? '_' : '\\_';
    case '&':
      return next !== null && /[#\w]/.test(next) ? '\\&' : '&';
    case '!':
      return opensLink ? '\\!' : '!';
    case '\r':
      return reference(character);
    case '\ufeff':
      return previous === null ? reference(character) : character;
    case ' ':
    case '\t':
      return isLineEdge(previous) || isLineEdge(next) ? reference(character) : character;
    case '\n': {
      const single = !isBlank(previous) && !isBlank(next);
      // The first two of three or more line ends end the paragraph, so that rewriting a paragraph never makes it longer.
      const goesOn = (after: string | null): boolean => after === '\n' || !isBlank(after);
      const opensPair = next === '\n' && !isBlank(previous) && goesOn(far.after);
      const closesPair = previous === '\n' && !isBlank(far.before) && goesOn(next);
      return single || (depth === 0 && (opensPair || closesPair)) ? character : reference(character);
    }
    default:
      return character;
  }
}

function isWord(character: string | null): boolean {
  return character !== null && /[a-z0-9]/i.test(character);
}

function isLineEdge(character: string | null): boolean {
  return character === null || character === '\n' || character === '\r';
}

function isBlank(character: string | null): boolean {
  return isLineEdge(character) || character === ' ' || character === '\t';
}

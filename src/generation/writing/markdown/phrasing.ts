/** Mends the inline content of a parsed response: links, images, HTML, footnotes and addresses become what may stay. */
import type { BlockContent, DefinitionContent, Nodes, PhrasingContent, RootContent } from 'mdast';
import { MAX_LINK_TEXT } from '../../../document/format/schema.ts';
import type { Definitions } from '../../../document/markdown/parse.ts';
import { htmlToParts } from '../../../document/text/html-text.ts';
import { cutAddresses } from './addresses.ts';
import type { Note } from './mendings.ts';

export interface PhrasingRules {
  /** Addresses that may stay. */
  readonly addresses: ReadonlySet<string>;
  /** How many articles can be linked to, by their numbers from 1. */
  readonly articles: number;
  /** True where the text may refer to notes by their numbers. */
  readonly references?: boolean;
}

const ARTICLE = /^article:(\d{1,4})$/i;
/** What stands for the link to an article until its block is built: a target that no article can lead to. */
const STANDS_FOR = /^#article-(\d{1,4})$/;
/** A number, alone or in brackets, that is linked: a reference with an address that a model made up. */
const NUMBER = /^\[?(\d{1,3})\]?$/;
const FOOTNOTE = /\[\^[^[\]\s]{1,50}\]/g;
/** A definition of a footnote, as text. */
const FOOTNOTE_TEXT = /^\[\^[^[\]\s]{1,50}\]:/;
const HTML = /<\/?[a-z!?][^<>]{0,2000}>/gi;

/** The number of the article that a link stands for; null for any other link. */
export const articleOf = (url: string): number | null => {
  const number = STANDS_FOR.exec(url)?.[1];
  return number === undefined ? null : Number(number);
};

/** Mends all inline content below these nodes, in place. */
export function mendPhrasing(
  nodes: readonly RootContent[],
  definitions: Definitions,
  rules: PhrasingRules,
  note: Note,
): void {
  const stack: { node: Nodes; linkable: boolean }[] = [...nodes].map((node) => ({ node, linkable: true }));
  for (let entry = stack.pop(); entry !== undefined; entry = stack.pop()) {
    const { node, linkable } = entry;
    if (node.type === 'paragraph' || node.type === 'heading' || node.type === 'tableCell') {
      const articles = linkable && node.type === 'paragraph' ? rules.articles : 0;
      if (FOOTNOTE_TEXT.test(textOf(node.children.slice(0, 2)).slice(0, 60))) {
        note('footnote');
        node.children = [];
        continue;
      }
      node.children = mended(node.children, { ...rules, articles }, definitions, note);
    } else if ('children' in node) {
      const inside = linkable && node.type === 'blockquote';
      for (const child of node.children as readonly (BlockContent | DefinitionContent)[]) {
        stack.push({ node: child, linkable: inside });
      }
    }
  }
}

/** A plain text without tags and addresses that may not stay. */
export function mendText(text: string, addresses: ReadonlySet<string>, note: Note, code = false): string {
  const shown = code ? text : withoutTags(text, note);
  const { text: kept, cut } = cutAddresses(shown, addresses, code);
  note('address', cut);
  return kept;
}

function mended(
  nodes: readonly PhrasingContent[],
  rules: PhrasingRules,
  definitions: Definitions,
  note: Note,
): PhrasingContent[] {
  const plain = nodes.flatMap((node) => unwrapped(node, rules, definitions, note));
  return merged(plain).map((node): PhrasingContent => {
    switch (node.type) {
      case 'text': {
        const text = node.value.replace(FOOTNOTE, () => {
          note('footnote');
          return '';
        });
        return { type: 'text', value: mendText(text.replaceAll('~~', ''), rules.addresses, note) };
      }
      case 'inlineCode':
        return { type: 'inlineCode', value: mendText(node.value, rules.addresses, note, true) };
      case 'strong':
      case 'emphasis':
      case 'link':
        return { ...node, children: mended(node.children, rules, definitions, note) };
      default:
        return node;
    }
  });
}

/** A node as the nodes that may stand for it; what is inside of them is not mended yet. */
function unwrapped(
  node: PhrasingContent,
  rules: PhrasingRules,
  definitions: Definitions,
  note: Note,
): PhrasingContent[] {
  switch (node.type) {
    case 'text':
    case 'inlineCode':
    case 'strong':
    case 'emphasis':
      return [node];
    case 'break':
      return [{ type: 'text', value: ' ' }];
    case 'html':
      note('html');
      return htmlToParts(node.value).map((part) => asText(typeof part === 'string' ? part : part.alt));
    case 'image':
    case 'imageReference':
      note('image');
      return [asText(node.alt ?? '')];
    case 'link':
    case 'linkReference': {
      if (node.type === 'linkReference' && node.identifier.startsWith('^')) {
        note('footnote');
        return [];
      }
      const [, number] = NUMBER.exec(textOf(node.children).trim()) ?? [];
      if (rules.references === true && number !== undefined) {
        note('link');
        return [asText(`[${number}]`)];
      }
      const url = node.type === 'link' ? node.url : (definitions.get(node.identifier)?.url ?? '');
      // Standing for an article is ours to write.
      const article = Number(ARTICLE.exec(url.trim())?.[1] ?? 0);
      const children = node.children.flatMap((child) =>
        unwrapped(child, { ...rules, articles: 0 }, definitions, note),
      );
      const length = textOf(children).trim().length;
      if (article >= 1 && article <= rules.articles && length >= 1 && length <= MAX_LINK_TEXT) {
        return [{ type: 'link', url: `#article-${article}`, children }];
      }
      note('link');
      return children;
    }
    default:
      return 'children' in node
        ? (node.children as readonly PhrasingContent[]).flatMap((child) =>
            unwrapped(child, rules, definitions, note),
          )
        : [];
  }
}

const asText = (value: string): PhrasingContent => ({ type: 'text', value: value.replace(/\s+/g, ' ') });

/** Texts side by side as one, so that nothing is hidden between them. */
function merged(nodes: readonly PhrasingContent[]): PhrasingContent[] {
  const result: PhrasingContent[] = [];
  let texts: string[] = [];
  const flush = (): void => {
    if (texts.length > 0) result.push({ type: 'text', value: texts.join('') });
    texts = [];
  };
  for (const node of nodes) {
    if (node.type === 'text') {
      texts.push(node.value);
      continue;
    }
    flush();
    result.push(node);
  }
  flush();
  return result;
}

/** The characters of nodes as shown. */
export function textOf(nodes: readonly Nodes[]): string {
  const parts: string[] = [];
  const stack: Nodes[] = [...nodes].toReversed();
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if ('value' in node) parts.push(node.value);
    if ('children' in node) for (const child of [...node.children].toReversed()) stack.push(child);
  }
  return parts.join('');
}

/** A text without what reads as tags; of one that hides tags in tags nothing stays that begins one. */
function withoutTags(text: string, note: Note): string {
  if (!text.includes('<')) return text;
  const shown = text.replace(HTML, () => {
    note('html');
    return '';
  });
  return shown !== text && shown.search(HTML) !== -1 ? shown.replaceAll('<', ' ') : shown;
}

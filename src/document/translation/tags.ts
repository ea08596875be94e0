/**
 * The protected form in which text goes to a provider: XML-escaped text with paired tags for links, bold and italic
 * (`<a id="1">text</a>`, `<b id="2">`, `<i id="3">`) and empty tags for what must survive as it is (`<x id="4"/>`).
 */

import { decodeReferences } from '../text/references.ts';

/** a: link, b: bold, i: italic, x: untouchable content. */
export type TagName = 'a' | 'b' | 'i' | 'x';

/** A tag; ids are unique within one text. `x` has no children. */
export interface TagNode {
  readonly tag: TagName;
  readonly id: number;
  readonly children: TagContent[];
}

/** Text (unescaped) or a tag. */
export type TagContent = string | TagNode;

/** The tree as markup. */
export function serializeTags(nodes: readonly TagContent[]): string {
  return nodes
    .map((node) => {
      if (typeof node === 'string') return escapeXml(node);
      if (node.tag === 'x') return `<x id="${node.id}"/>`;
      return `<${node.tag} id="${node.id}">${serializeTags(node.children)}</${node.tag}>`;
    })
    .join('');
}

/** A text without tags in protected form. */
export function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** The tree, or what is wrong with the markup, worded for a model. */
export type ParsedTags = { ok: true; nodes: TagContent[] } | { ok: false; problem: string };

const TAG = /<(\/?)([abix])(?:\s+id\s*=\s*["']?(\d{1,9})["']?)?\s*(\/?)>/giy;

/** Parses the protected form. A bare `<` or `&` that cannot start a tag or reference is taken as text. */
export function parseTags(markup: string): ParsedTags {
  const root: TagContent[] = [];
  const open: { tag: TagName; id: number; children: TagContent[] }[] = [];
  let children = root;
  let text = 0;
  let search = 0;
  const flush = (end: number): void => {
    if (end > text) children.push(decodeReferences(markup.slice(text, end)));
  };
  for (let at = markup.indexOf('<'); at !== -1; at = markup.indexOf('<', search)) {
    TAG.lastIndex = at;
    const match = TAG.exec(markup);
    if (match === null) {
      if (/[a-z/!?]/i.test(markup.charAt(at + 1))) {
        // Whole characters: half of one cannot be stored.
        const start = [...markup.slice(at, at + 40)].slice(0, 20).join('');
        return { ok: false, problem: `"${start}" is not one of the allowed tags` };
      }
      search = at + 1;
      continue;
    }
    flush(at);
    text = TAG.lastIndex;
    search = text;
    const tag = String(match[2]).toLowerCase() as TagName;
    if (match[1] === '/') {
      const last = open.pop();
      if (last === undefined || last.tag !== tag) {
        return { ok: false, problem: `</${tag}> closes a tag that is not the open one: tags must nest` };
      }
      children = open.at(-1)?.children ?? root;
      continue;
    }
    if (match[3] === undefined) return { ok: false, problem: `a <${tag}> tag has lost its id` };
    const node = { tag, id: Number(match[3]), children: [] };
    children.push(node);
    if (match[4] === '/') continue;
    open.push(node);
    children = node.children;
    if (open.length > 100) return { ok: false, problem: 'tags are nested too deeply' };
  }
  flush(markup.length);
  const left = open.at(-1);
  return left === undefined
    ? { ok: true, nodes: root }
    : { ok: false, problem: `<${left.tag} id="${left.id}"> is never closed` };
}

/** The text in the tree without its tags. */
export function tagText(nodes: readonly TagContent[]): string {
  return nodes.map((node) => (typeof node === 'string' ? node : tagText(node.children))).join('');
}

/** A text in protected form as plain text, without untouchable parts. */
export function plainText(text: string): string {
  const parsed = parseTags(text);
  return parsed.ok ? tagText(parsed.nodes) : text;
}

/** Every tag of the tree with its ancestors, outermost first. */
export function* eachTag(
  nodes: readonly TagContent[],
  around: readonly TagNode[] = [],
): Generator<{ node: TagNode; around: readonly TagNode[] }> {
  for (const node of nodes) {
    if (typeof node === 'string') continue;
    yield { node, around };
    yield* eachTag(node.children, [...around, node]);
  }
}

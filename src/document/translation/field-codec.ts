/** Converts one text of a document to the protected form for providers and back. */

import { type PlacedLink, placeLinks } from '../format/links.ts';
import { type ArticleLink, MAX_LINK_TEXT } from '../format/schema.ts';
import type { TextChange, TextField } from '../format/walk.ts';
import { serializeInline } from '../inline/markdown.ts';
import { parseInline } from '../inline/parse.ts';
import { type InlineNode, type InlineRun, type LinkTarget, NO_MARKS, nestRuns } from '../inline/runs.ts';
import { cutAtWord } from '../text/characters.ts';
import { findLiterals, type Literal, type TextRange } from '../text/literals.ts';
import { widenToFirst } from './place-links.ts';
import type { TagContent, TagNode } from './tags.ts';

/** A field in protected form. Encoding is deterministic: the same field always gets the same tag ids. */
export interface EncodedField {
  readonly nodes: TagContent[];
  /** Titles of inline links by tag id: separate prose, translated on its own. */
  readonly titles: ReadonlyMap<number, string>;
  /** What empty tags stand for, by tag id: code and placeholders as written, without addresses. */
  readonly placeholders: ReadonlyMap<number, string>;
  /** The meaning of a tag, comparable between two languages whatever the tags' ids. */
  meaningOf(node: TagNode): string;
  /** The field's new content, from a translated tree with the same tags. */
  decode(nodes: readonly TagContent[], titles: ReadonlyMap<number, string>): TextChange;
}

/** Encodes a field: links and emphasis become paired tags; inline code, addresses and placeholders empty ones. */
export function encodeField(field: Pick<TextField, 'text' | 'markdown' | 'links'>): EncodedField {
  return field.markdown ? encodeMarkdown(field.text) : encodePlain(field.text, field.links);
}

/** Content behind an `x` tag. */
interface Atom {
  readonly kind: 'text' | 'code';
  readonly text: string;
  /** False for what a translation does not depend on: addresses, control characters. */
  readonly isNamed: boolean;
}

const namedOf = (atoms: ReadonlyMap<number, Atom>): Map<number, string> =>
  new Map([...atoms].flatMap(([id, { text, isNamed }]) => (isNamed ? [[id, text] as const] : [])));

class TagIds {
  private last = 0;

  next(): number {
    this.last += 1;
    return this.last;
  }
}

/** Reads text from left to right, with literals as `x` tags. */
class LiteralText {
  private readonly text: string;
  private readonly literals: readonly Literal[];
  private readonly ids: TagIds;
  private readonly atoms: Map<number, Atom>;
  private at = 0;
  private next = 0;

  constructor(text: string, literals: readonly Literal[], ids: TagIds, atoms: Map<number, Atom>) {
    this.text = text;
    this.literals = literals;
    this.ids = ids;
    this.atoms = atoms;
  }

  /** The nodes from the end of the last call to `end`; a literal that reaches beyond is split there. */
  upTo(end: number): TagContent[] {
    const nodes: TagContent[] = [];
    for (let literal = this.literals[this.next]; this.at < end; literal = this.literals[this.next]) {
      const start = Math.min(literal?.start ?? end, end);
      if (start > this.at) nodes.push(this.text.slice(this.at, start));
      this.at = Math.max(this.at, start);
      if (literal === undefined || this.at >= end) continue;
      const stop = Math.min(literal.end, end);
      const id = this.ids.next();
      const isNamed = literal.kind === 'placeholder';
      this.atoms.set(id, { kind: 'text', text: this.text.slice(this.at, stop), isNamed });
      nodes.push({ tag: 'x', id, children: [] });
      this.at = stop;
      if (stop === literal.end) this.next += 1;
    }
    return nodes;
  }
}

const TAG_OF = { link: 'a', strong: 'b', emphasis: 'i' } as const;

function encodeMarkdown(markdown: string): EncodedField {
  const ids = new TagIds();
  const atoms = new Map<number, Atom>();
  const targets = new Map<number, LinkTarget>();
  const titles = new Map<number, string>();
  const encode = (node: InlineNode): TagContent[] => {
    if (node.type === 'text') {
      const { text } = node;
      return new LiteralText(text, findLiterals(text), ids, atoms).upTo(text.length);
    }
    const id = ids.next();
    if (node.type === 'code') {
      atoms.set(id, { kind: 'code', text: node.text, isNamed: true });
      return [{ tag: 'x', id, children: [] }];
    }
    if (node.type === 'link') {
      targets.set(id, node.link);
      if (node.link.title !== null) titles.set(id, node.link.title);
    }
    return [{ tag: TAG_OF[node.type], id, children: node.children.flatMap(encode) }];
  };
  const outer = trimEdges(nestRuns(parseInline(markdown)).flatMap(encode));
  return {
    nodes: outer.nodes,
    titles,
    placeholders: namedOf(atoms),
    meaningOf: ({ tag, id }) => JSON.stringify([tag, targets.get(id)?.url, atoms.get(id)]),
    decode(translated, newTitles) {
      const runs: InlineRun[] = [];
      const decode = (content: readonly TagContent[], marks: Omit<InlineRun, 'kind' | 'text'>): void => {
        for (const node of content) {
          if (typeof node === 'string') {
            runs.push({ kind: 'text', text: node, ...marks });
          } else if (node.tag === 'x') {
            const atom = atoms.get(node.id);
            if (atom !== undefined) runs.push({ kind: atom.kind, text: atom.text, ...marks });
          } else if (node.tag === 'a') {
            const target = targets.get(node.id);
            const link = target ? { url: target.url, title: newTitles.get(node.id) ?? target.title } : null;
            decode(node.children, { ...marks, link });
          } else {
            decode(node.children, { ...marks, [node.tag === 'b' ? 'strong' : 'emphasis']: true });
          }
        }
      };
      decode([outer.before, ...trimEdges(translated).nodes, outer.after], NO_MARKS);
      return { text: serializeInline(runs) };
    },
  };
}

function encodePlain(text: string, links: readonly ArticleLink[]): EncodedField {
  const ids = new TagIds();
  const atoms = new Map<number, Atom>();
  const linkOf = new Map<number, number>();
  const literals = findLiterals(text);
  const content = new LiteralText(text, literals, ids, atoms);
  const nodes: TagContent[] = [];
  const open: { node: TagNode; end: number }[] = [];
  const pushText = (end: number): void => {
    const target = open.at(-1)?.node.children ?? nodes;
    for (const node of content.upTo(end)) target.push(node);
  };
  const closeUntil = (start: number): void => {
    for (let last = open.at(-1); last !== undefined && last.end <= start; last = open.at(-1)) {
      pushText(last.end);
      open.pop();
    }
  };
  for (const range of taggable(placeLinks(text, links), literals)) {
    closeUntil(range.start);
    pushText(range.start);
    const node: TagNode = { tag: 'a', id: ids.next(), children: [] };
    linkOf.set(node.id, range.index);
    (open.at(-1)?.node.children ?? nodes).push(node);
    open.push({ node, end: range.end });
  }
  closeUntil(text.length);
  pushText(text.length);
  const outer = trimEdges(nodes);
  return {
    nodes: outer.nodes,
    titles: new Map(),
    placeholders: namedOf(atoms),
    meaningOf: ({ tag, id }) => JSON.stringify([tag, links[linkOf.get(id) ?? -1]?.articleId, atoms.get(id)]),
    decode(translated) {
      const placed: (TextRange & { readonly index: number })[] = [];
      let changed = outer.before;
      const decode = (content: readonly TagContent[]): void => {
        for (const node of content) {
          if (typeof node === 'string') changed += node;
          else if (node.tag === 'x') changed += atoms.get(node.id)?.text ?? '';
          else {
            const from = changed.length;
            decode(node.children);
            const index = linkOf.get(node.id);
            const link = links[index ?? -1];
            if (index === undefined || link === undefined) continue;
            // A link needs words: an engine may drop blank ones, so they are taken from the source.
            if (changed.slice(from).trim() === '') changed = changed.slice(0, from) + link.text;
            const inner = changed.slice(from);
            const words = linkText(inner);
            const start = from + inner.indexOf(words);
            placed.push({ index, start, end: start + words.length });
          }
        }
      };
      decode(trimEdges(translated).nodes);
      changed += outer.after;
      if (links.length === 0) return { text: changed };
      placed.sort((one, other) => one.start - other.start);
      const newLinks = links.map((link) => ({ ...link }));
      for (const [at, { start, end }] of widenToFirst(changed, placed, MAX_LINK_TEXT).entries()) {
        const link = newLinks[placed[at]?.index ?? -1];
        if (link !== undefined) link.text = changed.slice(start, end);
      }
      return { text: changed, links: newLinks };
    },
  };
}

/** A link's words as stored: an exact part of the translated text, at most 200 characters. */
function linkText(inner: string): string {
  const trimmed = inner.trim();
  return cutAtWord(trimmed === '' ? inner : trimmed, MAX_LINK_TEXT);
}

/**
 * The links that can be tags: in the block's order, without those that overlap an earlier one in part. A link inside a
 * literal needs no tag, because the literal is kept. Sorted outermost first.
 */
function taggable(placed: readonly PlacedLink[], literals: readonly TextRange[]): PlacedLink[] {
  const accepted: PlacedLink[] = [];
  for (const link of placed) {
    const inLiteral = literals.some(({ start, end }) => {
      return start <= link.start && link.end <= end && end - start > link.end - link.start;
    });
    if (!inLiteral && !accepted.some((other) => partlyOverlap(link, other))) accepted.push(link);
  }
  return accepted.sort((a, b) => a.start - b.start || b.end - a.end || a.index - b.index);
}

function partlyOverlap(a: TextRange, b: TextRange): boolean {
  return (
    (a.start < b.start && b.start < a.end && a.end < b.end) ||
    (b.start < a.start && a.start < b.end && b.end < a.end)
  );
}

/** The nodes without the white space at the outer edges of the whole text. */
function trimEdges(content: readonly TagContent[]): { before: string; nodes: TagContent[]; after: string } {
  const nodes = [...content];
  let before = '';
  let after = '';
  const first = nodes[0];
  if (typeof first === 'string') {
    nodes[0] = first.trimStart();
    before = first.slice(0, first.length - nodes[0].length);
  }
  const last = nodes.at(-1);
  if (typeof last === 'string') {
    const trimmed = last.trimEnd();
    nodes[nodes.length - 1] = trimmed;
    after = last.slice(trimmed.length);
  }
  return { before, nodes: nodes.filter((node) => node !== ''), after };
}

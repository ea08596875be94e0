/** Parses a Markdown file (CommonMark, GFM tables, emphasis that works in CJK text) into its top-level nodes. */
import type { Definition, Nodes, Root, RootContent } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmTableFromMarkdown } from 'mdast-util-gfm-table';
import { toMarkdown } from 'mdast-util-to-markdown';
import { cjkFriendlyExtension } from 'micromark-extension-cjk-friendly';
import { gfmTable } from 'micromark-extension-gfm-table';
import { splitMarkdown } from './split.ts';

const OPTIONS = {
  extensions: [gfmTable(), cjkFriendlyExtension()],
  mdastExtensions: [gfmTableFromMarkdown()],
};

/** Link definitions by identifier; the first one of a name wins. */
export type Definitions = ReadonlyMap<string, Definition>;

export interface ParsedMarkdown {
  readonly nodes: RootContent[];
  readonly definitions: Definitions;
}

/** The nodes of the file. Long files are parsed in parts that share their link definitions. */
export function parseMarkdown(source: string): ParsedMarkdown {
  const parts = splitMarkdown(source);
  const roots = parts.map((part) => fromMarkdown(part, OPTIONS));
  const definitions = new Map<string, Definition>();
  const own = roots.map((root) => collectDefinitions(root, definitions));
  const nodes = roots.flatMap((root, index) => {
    const part = parts[index] ?? '';
    const foreign = referenced(part, definitions).filter(({ identifier }) => !own[index]?.has(identifier));
    return foreign.length === 0
      ? root.children
      : fromMarkdown(`${writeDefinitions(foreign)}\n${part}`, OPTIONS).children;
  });
  return { nodes, definitions };
}

/** Adds the definitions of `root` to `all` and returns the identifiers it defines. */
function collectDefinitions(root: Root, all: Map<string, Definition>): Set<string> {
  const own = new Set<string>();
  const stack: Nodes[] = [root];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (node.type === 'definition') {
      own.add(node.identifier);
      if (!all.has(node.identifier)) all.set(node.identifier, node);
    }
    if ('children' in node) for (const child of [...node.children].reverse()) stack.push(child);
  }
  return own;
}

/** The definitions whose label occurs in brackets in the text. */
function referenced(part: string, definitions: Definitions): Definition[] {
  if (definitions.size === 0) return [];
  const found = new Set<Definition>();
  for (const [, label] of part.matchAll(/\[((?:[^[\]\\]|\\[^\n]){1,999})\]/g)) {
    const identifier = (label ?? '')
      .replace(/[\t\n\r ]+/g, ' ')
      .trim()
      .toLowerCase()
      .toUpperCase()
      .toLowerCase();
    const definition = definitions.get(identifier);
    if (definition !== undefined) found.add(definition);
  }
  return [...found];
}

function writeDefinitions(definitions: Definition[]): string {
  return toMarkdown({ type: 'root', children: definitions });
}

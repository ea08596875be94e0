/** Lists of an imported Markdown file. */
import type { BlockContent, DefinitionContent, List, ListItem } from 'mdast';
import { MAX_LIST_LEVELS, type SubList } from '../format/schema.ts';
import { type InlineRun, textRun } from '../inline/runs.ts';
import { fieldTexts, type NewBlock } from './field-text.ts';
import type { Definitions } from './parse.ts';
import { type ImportedImage, readPhrasing } from './phrasing.ts';

/** A part of an imported list: a list block, or a block that an item cannot hold. */
export type ListPart =
  | { readonly type: 'list'; readonly block: NewBlock }
  | { readonly type: 'image'; readonly image: ImportedImage }
  | { readonly type: 'block'; readonly node: BlockContent | DefinitionContent };

interface DraftItem {
  readonly runs: InlineRun[];
  child: DraftList | null;
}

interface DraftList {
  readonly ordered: boolean;
  readonly items: DraftItem[];
}

export class ListReader {
  private readonly definitions: Definitions;
  private outside: ListPart[] = [];

  constructor(definitions: Definitions) {
    this.definitions = definitions;
  }

  /** The parts of a list, in order. Code, a table or an image in an item splits the list into two blocks. */
  read(list: List): ListPart[] {
    const parts: ListPart[] = [];
    let draft: DraftList = { ordered: list.ordered === true, items: [] };
    const flush = (): void => {
      if (draft.items.length > 0) parts.push({ type: 'list', block: finish(draft) });
      draft = { ordered: draft.ordered, items: [] };
    };
    for (const item of list.children) {
      this.readItem(item, draft, 1);
      if (this.outside.length === 0) continue;
      flush();
      parts.push(...this.outside);
      this.outside = [];
    }
    flush();
    return parts;
  }

  private readItem(item: ListItem, into: DraftList, level: number): void {
    const draft: DraftItem = { runs: [], child: null };
    into.items.push(draft);
    for (const node of item.children) {
      if (node.type === 'paragraph') {
        const { runs, images } = readPhrasing(node.children, this.definitions);
        if (draft.runs.length > 0 && runs.length > 0) draft.runs.push(textRun('\n'));
        draft.runs.push(...runs);
        this.outside.push(...images.map((image): ListPart => ({ type: 'image', image })));
      } else if (node.type === 'list') {
        // Deeper levels than the format allows are flattened into the deepest one.
        const target =
          level < MAX_LIST_LEVELS ? (draft.child ?? { ordered: node.ordered === true, items: [] }) : into;
        if (level < MAX_LIST_LEVELS) draft.child = target;
        for (const child of node.children) this.readItem(child, target, Math.min(level + 1, MAX_LIST_LEVELS));
      } else {
        this.outside.push({ type: 'block', node });
      }
    }
  }
}

/** The list block: all its texts share one format. */
function finish(draft: DraftList): NewBlock {
  const fields: InlineRun[][] = [];
  const collect = (list: DraftList): void => {
    for (const item of list.items) {
      fields.push(item.runs);
      if (item.child !== null) collect(item.child);
    }
  };
  collect(draft);
  const { texts, ...format } = fieldTexts(fields);
  let next = 0;
  const write = (list: DraftList): SubList => {
    const children: (SubList | null)[] = [];
    const items = list.items.map((item) => {
      const text = texts[next] ?? '';
      next += 1;
      children.push(item.child === null ? null : write(item.child));
      return text;
    });
    const nested = children.some((child) => child !== null);
    return { ordered: list.ordered, items, ...(nested ? { children } : {}) };
  };
  return { type: 'list', ...write(draft), ...format };
}

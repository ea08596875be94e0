/** Traverses all text of a document, to read it (words, segments) or to write it (reassembly). */
import type { ArticleLink, Block, DocumentJson, SubList } from './schema.ts';

/** The kind of a text, for providers that use context. */
export type FieldKind =
  | 'heading'
  | 'paragraph'
  | 'listItem'
  | 'quote'
  | 'attribution'
  | 'tableCell'
  | 'caption'
  | 'altText';

/** One text of a block. */
export interface TextField {
  /** Stable for one document: consists of positions, never of ids. */
  readonly key: string;
  readonly kind: FieldKind;
  readonly markdown: boolean;
  readonly text: string;
  /** The block's `links`; empty for Markdown, where they are ignored. */
  readonly links: readonly ArticleLink[];
}

/** A field's new content; `links` replaces the block's when given. */
export interface TextChange {
  readonly text: string;
  readonly links?: ArticleLink[];
}

/**
 * A deep copy of the document with `change` applied to every text. Ids, code, assets and structure are copied.
 */
export function mapTexts(document: DocumentJson, change: (field: TextField) => TextChange): DocumentJson {
  return {
    version: 1,
    blocks: document.blocks.map((block, index) => mapBlock(structuredClone(block), `block.${index}`, change)),
  };
}

/** Every text of the document, top to bottom. */
export function collectTexts(document: DocumentJson): TextField[] {
  const fields: TextField[] = [];
  mapTexts(document, (field) => {
    fields.push(field);
    return field.links.length > 0 ? { text: field.text, links: [...field.links] } : { text: field.text };
  });
  return fields;
}

const NO_LINKS: readonly ArticleLink[] = [];

/** Changes `block`, a copy of its own, in place. */
function mapBlock(block: Block, key: string, change: (field: TextField) => TextChange): Block {
  const markdown = 'format' in block && block.format === 'markdown';
  const write = (kind: FieldKind, part: string, text: string, formatted = markdown): string =>
    change({ key: `${key}.${part}`, kind, markdown: formatted, text, links: NO_LINKS }).text;
  const writeList = (list: SubList, path: string): void => {
    list.items = list.items.map((item, index) => {
      const child = list.children?.[index];
      const text = write('listItem', `${path}.${index}`, item);
      if (child) writeList(child, `${path}.${index}`);
      return text;
    });
  };
  switch (block.type) {
    case 'heading':
      block.text = write('heading', 'text', block.text);
      return block;
    case 'paragraph':
    case 'quote': {
      const links = markdown ? [] : (block.links ?? []);
      const changed = change({ key: `${key}.text`, kind: block.type, markdown, text: block.text, links });
      block.text = changed.text;
      if (changed.links !== undefined && block.links !== undefined && !markdown) block.links = changed.links;
      if (block.type === 'quote' && block.attribution !== undefined) {
        block.attribution = write('attribution', 'attribution', block.attribution, false);
      }
      return block;
    }
    case 'list':
      writeList(block, 'item');
      return block;
    case 'table':
      block.header = block.header.map((cell, column) => write('tableCell', `header.${column}`, cell));
      block.rows = block.rows.map((row, index) =>
        row.map((cell, column) => write('tableCell', `row.${index}.${column}`, cell)),
      );
      return block;
    case 'image':
      block.altText = write('altText', 'alt', block.altText, false);
      if (block.caption !== undefined) block.caption = write('caption', 'caption', block.caption, false);
      return block;
    case 'code':
    case 'divider':
      return block;
  }
}

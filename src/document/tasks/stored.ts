import type { DocumentJson } from '../format/schema.ts';
import { countWords } from '../format/words.ts';
import { toPlainText } from '../inline/parse.ts';
import { type Rendered, renderDocument } from '../render/document.ts';

/** A valid document as stored, and the facts that callers need. */
export interface StoredDocument {
  /** documentJson without dead links. */
  readonly json: string;
  readonly words: number;
  /** The assets of its image blocks in order, with each block's index. */
  readonly images: readonly { readonly assetId: string; readonly block: number }[];
  /** The text of its first heading; null without one. */
  readonly firstHeading: string | null;
}

function describe(document: DocumentJson): StoredDocument {
  const images: { assetId: string; block: number }[] = [];
  for (const [index, block] of document.blocks.entries()) {
    if (block.type === 'image') images.push({ assetId: block.assetId, block: index });
  }
  const heading = document.blocks.find((block) => block.type === 'heading');
  return {
    json: JSON.stringify(document),
    words: countWords(document),
    images,
    firstHeading: heading?.format === 'markdown' ? toPlainText(heading.text) : (heading?.text ?? null),
  };
}

/** A valid document to store, with its rendering. */
export interface RenderedDocument {
  readonly stored: StoredDocument;
  readonly rendered: Rendered;
}

/** Prepares and renders a document for storage. */
export const toStore = (document: DocumentJson): RenderedDocument => ({
  stored: describe(document),
  rendered: renderDocument(document),
});

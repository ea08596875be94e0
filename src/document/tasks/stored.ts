import type { DocumentJson } from '../format/schema.ts';
import { countWords } from '../format/words.ts';
import type { ParsedTexts } from '../inline/texts.ts';
import { type Rendered, renderDocument } from '../render/document.ts';

/** A valid document as it is stored, and what its users need to know about it. */
export interface StoredDocument {
  /** documentJson, its dead links dropped. */
  readonly json: string;
  readonly words: number;
  /** The assets it shows, in the order of its image blocks, with the block's index. */
  readonly images: readonly { readonly assetId: string; readonly block: number }[];
  /** The words of its first heading; null without one. */
  readonly firstHeading: string | null;
}

function describe(document: DocumentJson, texts: ParsedTexts): StoredDocument {
  const images: { assetId: string; block: number }[] = [];
  for (const [index, block] of document.blocks.entries()) {
    if (block.type === 'image') images.push({ assetId: block.assetId, block: index });
  }
  const heading = document.blocks.find((block) => block.type === 'heading');
  return {
    json: JSON.stringify(document),
    words: countWords(document, texts),
    images,
    firstHeading: heading?.format === 'markdown' ? texts.plain(heading.text) : (heading?.text ?? null),
  };
}

/** A valid document to store, with its rendering. */
export interface RenderedDocument {
  readonly stored: StoredDocument;
  readonly rendered: Rendered;
}

/** Describes and renders a document as it is stored. */
export const toStore = (document: DocumentJson, texts: ParsedTexts): RenderedDocument => ({
  stored: describe(document, texts),
  rendered: renderDocument(document, texts),
});

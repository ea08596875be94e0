import type { DocumentJson } from '../format/schema.ts';
import { countWords } from '../format/words.ts';
import type { ParsedTexts } from '../inline/texts.ts';
import { type Rendered, renderDocument } from '../render/document.ts';

/** A valid document as it is stored, and what its users need to know about it. */
export interface StoredDocument {
  /** documentJson, its dead links dropped. */
  readonly json: string;
  readonly rendered: Rendered;
  readonly words: number;
  /** The articles it links to, each once. */
  readonly articleIds: readonly string[];
  /** The assets it shows, in the order of its image blocks, with the block's index. */
  readonly images: readonly { readonly assetId: string; readonly block: number }[];
  /** The words of its first heading; null without one. */
  readonly firstHeading: string | null;
}

/** A document as it is stored. */
export function describe(document: DocumentJson, texts: ParsedTexts): StoredDocument {
  const articleIds = new Set<string>();
  const images: { assetId: string; block: number }[] = [];
  for (const [index, block] of document.blocks.entries()) {
    if (block.type === 'image') images.push({ assetId: block.assetId, block: index });
    if ('links' in block) for (const link of block.links ?? []) articleIds.add(link.articleId);
  }
  const heading = document.blocks.find((block) => block.type === 'heading');
  return {
    json: JSON.stringify(document),
    rendered: renderDocument(document, texts),
    words: countWords(document, texts),
    articleIds: [...articleIds],
    images,
    firstHeading: heading?.format === 'markdown' ? texts.plain(heading.text) : (heading?.text ?? null),
  };
}

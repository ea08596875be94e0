/** Places the `links` of plain blocks in their text, and drops dead ones. */
import type { ArticleLink, Block, DocumentJson } from './schema.ts';

/** True for a block whose `links` are used; they are ignored in Markdown blocks. */
export const hasArticleLinks = (
  block: Block,
): block is Extract<Block, { type: 'paragraph' | 'quote' }> & { links: ArticleLink[] } =>
  (block.type === 'paragraph' || block.type === 'quote') &&
  block.format !== 'markdown' &&
  block.links !== undefined;

/** A link and the first occurrence of its words. */
export interface PlacedLink {
  readonly link: ArticleLink;
  /** Index in the block's `links`. */
  readonly index: number;
  readonly start: number;
  readonly end: number;
}

/** Finds each link's first literal occurrence (contract.md F4); links whose words no longer occur are skipped. */
export function placeLinks(text: string, links: readonly ArticleLink[]): PlacedLink[] {
  return links.flatMap((link, index) => {
    const start = text.indexOf(link.text);
    return start === -1 ? [] : [{ link, index, start, end: start + link.text.length }];
  });
}

/**
 * A copy of the document without dead links (contract.md F4): links whose words no longer occur, and all but the first
 * link to an article. Links of Markdown blocks are ignored and kept.
 */
export function dropDeadLinks(document: DocumentJson): DocumentJson {
  const seen = new Set<string>();
  const copy = structuredClone(document);
  for (const block of copy.blocks) {
    if (!hasArticleLinks(block)) continue;
    const kept = placeLinks(block.text, block.links).filter(({ link }) => claim(seen, link.articleId));
    if (kept.length > 0) block.links = kept.map(({ link }) => link);
    else Reflect.deleteProperty(block, 'links');
  }
  return copy;
}

/** True the first time an article is claimed. */
export function claim(seen: Set<string>, articleId: string): boolean {
  if (seen.has(articleId)) return false;
  seen.add(articleId);
  return true;
}

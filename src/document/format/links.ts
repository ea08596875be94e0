/** Where the `links` of a plain block occur in its text, and the rules about which of them are kept. */
import type { ArticleLink, Block, DocumentJson } from './schema.ts';

/** A block whose `links` count: they are ignored where the text is Markdown. */
export const hasArticleLinks = (
  block: Block,
): block is Extract<Block, { type: 'paragraph' | 'quote' }> & { links: ArticleLink[] } =>
  (block.type === 'paragraph' || block.type === 'quote') &&
  block.format !== 'markdown' &&
  block.links !== undefined;

/** A link and the first place where its words occur. */
export interface PlacedLink {
  readonly link: ArticleLink;
  /** Index in the block's `links`. */
  readonly index: number;
  readonly start: number;
  readonly end: number;
}

/** Finds each link's first literal occurrence (contract.md F4); links whose words no longer occur are left out. */
export function placeLinks(text: string, links: readonly ArticleLink[]): PlacedLink[] {
  return links.flatMap((link, index) => {
    const start = text.indexOf(link.text);
    return start === -1 ? [] : [{ link, index, start, end: start + link.text.length }];
  });
}

/**
 * The document as it is saved (contract.md F4): links whose words no longer occur are dropped, and
 * of the links to one article only the first in the whole document stays. Links of markdown blocks are ignored, so
 * they are left alone and count for nothing. Returns a copy.
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

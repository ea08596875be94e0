/** What a document shows, rendered with its links and images in it: the measure of what `splice` makes of its places. */
import type { Nodes, Root } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmTableFromMarkdown } from 'mdast-util-gfm-table';
import { gfmTable } from 'micromark-extension-gfm-table';
import { claim, hasArticleLinks, placeLinks } from '../../../src/document/format/links.ts';
import type { ArticleLink, Block, DocumentJson } from '../../../src/document/format/schema.ts';
import { parsingOnce } from '../../../src/document/inline/parse.ts';
import {
  type InlineRun,
  type LinkTarget,
  normalizeRuns,
  textRun,
} from '../../../src/document/inline/runs.ts';
import { openImage, renderHtml, showFigure } from '../../../src/document/render/html.ts';
import { renderMarkdown } from '../../../src/document/render/markdown.ts';
import type { Resolver } from '../../../src/document/render/splice.ts';
import { encodeUrl, isAllowedImageUrl, isAllowedLinkUrl } from '../../../src/document/text/urls.ts';

/** Markdown with tables as a tree, without positions. */
export function readMarkdown(markdown: string): Root {
  const root = fromMarkdown(markdown, {
    extensions: [gfmTable()],
    mdastExtensions: [gfmTableFromMarkdown()],
  });
  const strip = (node: Nodes): void => {
    Reflect.deleteProperty(node, 'position');
    if ('children' in node) for (const child of node.children) strip(child);
  };
  strip(root);
  return root;
}

/** The document rendered block by block, each link part of its text and each image where it stands. */
export function renderInlined({ blocks }: DocumentJson, resolver: Resolver): { html: string; tree: Root } {
  const claimed = new Set<string>();
  const linked = new Set<string>();
  const html: string[] = [];
  const tree: Root = { type: 'root', children: [] };
  for (const block of blocks) {
    if (block.type === 'image') {
      const asset = resolver.asset(block.assetId);
      if (asset === null || !isAllowedImageUrl(asset.url)) continue;
      const alt = block.altText || asset.altText;
      html.push(showFigure(openImage(asset.url, alt, asset.size), block.caption));
      const image = { type: 'image', url: encodeUrl(asset.url), alt, title: block.caption || null } as const;
      tree.children.push({ type: 'paragraph', children: [image] });
      continue;
    }
    const isLinked = hasArticleLinks(block);
    const runs = isLinked ? inlineLinks(block, resolver, claimed, linked) : [];
    const shown: Block = isLinked ? { ...block, format: 'markdown' } : block;
    const document: DocumentJson = { version: 1, blocks: [shown] };
    parsingOnce(
      () => {
        html.push(renderHtml(document));
        tree.children.push(...readMarkdown(renderMarkdown(document)).children);
      },
      new Map(isLinked ? [[block.text, { runs, problems: [] }]] : []),
    );
  }
  return { html: html.join('\n'), tree };
}

/** The text as runs. Of overlapping links the earlier entry is shown, of those that lead to one article the first. */
function inlineLinks(
  { text, links }: { text: string; links: ArticleLink[] },
  resolver: Resolver,
  claimed: Set<string>,
  linked: Set<string>,
): InlineRun[] {
  const taken: { start: number; end: number; link: LinkTarget }[] = [];
  for (const { link, start, end } of placeLinks(text, links)) {
    if (!claim(claimed, link.articleId) || link.text.trim() === '') continue;
    const target = resolver.link(link.articleId);
    if (target === null || !isAllowedLinkUrl(target.url)) continue;
    if (taken.some((other) => start < other.end && other.start < end)) continue;
    if (claim(linked, target.id)) taken.push({ start, end, link: { url: target.url, title: null } });
  }
  taken.sort((a, b) => a.start - b.start);
  const runs: InlineRun[] = [];
  let at = 0;
  for (const { start, end, link } of taken) {
    runs.push(textRun(text.slice(at, start)), { ...textRun(text.slice(start, end)), link });
    at = end;
  }
  return normalizeRuns([...runs, textRun(text.slice(at))]);
}

/**
 * What the renderers share: who resolves links and images, and which links of a document are shown
 * (contract.md F4, F5 and F8).
 */
import { claim, placeLinks } from '../format/links.ts';
import type { ArticleLink } from '../format/schema.ts';
import { type InlineRun, type LinkTarget, normalizeRuns, textRun } from '../inline/runs.ts';
import type { ParsedTexts } from '../inline/texts.ts';
import { isAllowedImageUrl, isAllowedLinkUrl } from '../text/urls.ts';

/** Raised whenever a document comes out differently: publishing renders anew what an earlier one has rendered. */
export const RENDERER = 1;

/** The outside world of a document. */
export interface Resolver {
  /** The address of a PUBLISHED article of the same project; null leaves the words plain. */
  link(articleId: string): string | null;
  /** An image's address and own alt text; null when the asset is missing (or must not be shown). */
  asset(assetId: string): { url: string; altText: string } | null;
}

/** The fields of a block's text. */
export interface RenderedText {
  readonly text: string;
  readonly format?: 'markdown' | undefined;
  readonly links?: readonly ArticleLink[] | undefined;
}

/** One rendering: remembers which articles are linked already. */
export class RenderPass {
  private readonly linked = new Set<string>();
  private readonly resolver: Resolver;
  private readonly texts: ParsedTexts;

  constructor(resolver: Resolver, texts: ParsedTexts) {
    this.resolver = resolver;
    this.texts = texts;
  }

  /** The text as runs, links resolved. Of overlapping links the earlier entry is shown. */
  runs(block: RenderedText): readonly InlineRun[] {
    if (block.format === 'markdown') return this.texts.runs(block.text);
    const taken: { start: number; end: number; link: LinkTarget }[] = [];
    for (const { link, start, end } of placeLinks(block.text, block.links ?? [])) {
      if (!claim(this.linked, link.articleId)) continue;
      const url = this.resolver.link(link.articleId);
      if (url === null || !isAllowedLinkUrl(url)) continue;
      if (taken.some((other) => start < other.end && other.start < end)) continue;
      taken.push({ start, end, link: { url, title: null } });
    }
    taken.sort((a, b) => a.start - b.start);
    const runs: InlineRun[] = [];
    let at = 0;
    for (const { start, end, link } of taken) {
      runs.push(textRun(block.text.slice(at, start)), { ...textRun(block.text.slice(start, end)), link });
      at = end;
    }
    runs.push(textRun(block.text.slice(at)));
    return normalizeRuns(runs);
  }

  /** The image to show; null when the asset is missing or its address is not one for images. */
  image(block: { assetId: string; altText: string }): { url: string; alt: string } | null {
    const asset = this.resolver.asset(block.assetId);
    if (asset === null || !isAllowedImageUrl(asset.url)) return null;
    return { url: asset.url, alt: block.altText === '' ? asset.altText : block.altText };
  }
}

/** A code block's language as shown: only A-Z a-z 0-9 _ + # . - (contract.md F9). */
export function codeLanguage(language: string | undefined): string {
  return (language ?? '').replace(/[^A-Za-z0-9_+#.-]/g, '');
}

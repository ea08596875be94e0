/** Shows a rendering: writes the addresses that articles and images have now into its places (contract.md F5, F8). */
import { claim } from '../format/links.ts';
import { destination } from '../inline/markdown.ts';
import { encodeUrl, isAllowedImageUrl, isAllowedLinkUrl } from '../text/urls.ts';
import type { Rendered } from './document.ts';
import { openLink, showFigure } from './html.ts';
import type { ImagePlace, LinkPlace } from './places.ts';

/** What the places of a document lead to. */
export interface Resolver {
  /** The article that a link leads to and its address; null leaves the words plain. */
  link(articleId: string): { readonly id: string; readonly url: string } | null;
  /** An image's address and own alt text; null when the asset is missing (or must not be shown). */
  asset(assetId: string): { readonly url: string; readonly altText: string } | null;
}

export interface Shown {
  readonly html: string;
  readonly markdown: string;
  /** The address shown in each place, those of links before those of images; null where none is shown. */
  readonly addresses: readonly (string | null)[];
}

/** What is written around a range of a text. */
interface Insertion {
  readonly start: number;
  readonly end: number;
  readonly before: string;
  readonly after: string;
}
type Splice = { readonly [Text in 'html' | 'markdown']: Insertion };

/**
 * Writes links and images into a rendering, in time linear in its length. Of links that overlap the earlier entry is
 * shown, of links that lead to one article the first. An address that is not allowed is not shown.
 */
export function splice({ html, markdown, places }: Rendered, resolve: Resolver): Shown {
  if (places === null) return { html, markdown, addresses: [] };
  const addresses: (string | null)[] = [];
  const splices: Splice[] = [];
  const linked = new Set<string>();
  for (const place of places.links) {
    const target = resolve.link(place.articleId);
    const isShown =
      target !== null &&
      isAllowedLinkUrl(target.url) &&
      !place.over?.some((other) => addresses[other] !== null) &&
      claim(linked, target.id);
    addresses.push(isShown ? target.url : null);
    if (isShown) splices.push(spliceLink(place, target.url));
  }
  for (const place of places.images) {
    const asset = resolve.asset(place.assetId);
    const isShown = asset !== null && isAllowedImageUrl(asset.url);
    addresses.push(isShown ? asset.url : null);
    if (isShown) splices.push(spliceImage(place, asset.url, place.altText || asset.altText));
  }
  // In HTML no two of them touch but images of one gap, which keep their order.
  splices.sort((a, b) => a.html.start - b.html.start);
  return {
    html: insert(html, splices, 'html'),
    markdown: insert(markdown, splices, 'markdown'),
    addresses,
  };
}

function insert(text: string, splices: readonly Splice[], kind: keyof Splice): string {
  if (splices.length === 0) return text;
  const parts: string[] = [];
  let done = 0;
  for (const { [kind]: insertion } of splices) {
    const { start, end, before, after } = insertion;
    parts.push(text.slice(done, start), before, text.slice(start, end), after);
    done = end;
  }
  const result = [...parts, text.slice(done)].join('');
  // Where nothing follows, HTML ends without a line end and Markdown with one.
  return text === '' ? result.slice(0, -1) : result;
}

function spliceLink(place: LinkPlace, url: string): Splice {
  const [htmlStart, htmlEnd] = place.html;
  const [start, end] = place.markdown;
  const target = destination({ url, title: null });
  return {
    html: { start: htmlStart, end: htmlEnd, before: openLink(url, null), after: '</a>' },
    markdown: { start, end, before: '[', after: `](${target})` },
  };
}

function spliceImage(place: ImagePlace, url: string, alt: string): Splice {
  const target = destination({ url: encodeUrl(url), title: place.caption ?? null });
  return {
    html: fill(place.html, showFigure(url, alt, place.caption), '\n'),
    markdown: fill(place.markdown, `![${escapeAlt(alt)}](${target})`, '\n\n'),
  };
}

/** A block in the gap at `at`: the separator stands before it, at the beginning of the text behind it. */
const fill = (at: number, block: string, separator: string): Insertion => ({
  start: at,
  end: at,
  before: at > 0 ? separator + block : block + separator,
  after: '',
});

/** An alternative text on one line of Markdown. */
const escapeAlt = (text: string): string =>
  text
    .replace(
      /[`*[\]~]|\\(?=[\r\n!-/:-@[-`{-~]|$)|_(?![a-z\d])|(?<![a-z\d])_|&(?=[#a-z])|<(?=[!/?a-z])/gi,
      '\\$&',
    )
    .replace(/[\r\n]/g, (character) => `&#${character.charCodeAt(0)};`);

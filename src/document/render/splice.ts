/** Writes the current addresses of articles and images into a rendering's places (contract.md F5, F8). */
import { claim } from '../format/links.ts';
import { destination } from '../inline/markdown.ts';
import { encodeUrl, isAllowedImageUrl, isAllowedLinkUrl } from '../text/urls.ts';
import type { Rendered } from './document.ts';
import { type ImageSize, openImage, openLink, showFigure } from './html.ts';
import type { ImagePlace, LinkPlace, Places } from './places.ts';

/** Resolves the places of a document. */
export interface Resolver {
  /** A link's article and address; null leaves the words plain. */
  link(articleId: string): { readonly id: string; readonly url: string } | null;
  /** An image's address, own alt text and, where known, size; null when the asset is missing (or must not be shown). */
  asset(
    assetId: string,
  ): { readonly url: string; readonly altText: string; readonly size: ImageSize | null } | null;
}

/** Text to insert around a range. */
interface Insertion {
  readonly start: number;
  readonly end: number;
  readonly before: string;
  readonly after: string;
}
type Splice = { readonly [Text in 'html' | 'markdown']: Insertion };

/**
 * The address of each link; null where the link is not shown. The earlier of overlapping links wins, as does the first
 * link to an article. Addresses that are not allowed are not shown.
 */
export function shownLinks({ links }: Places, link: Resolver['link']): (string | null)[] {
  const addresses: (string | null)[] = [];
  const linked = new Set<string>();
  for (const { articleId, over } of links) {
    const target = link(articleId);
    const isShown =
      target !== null &&
      isAllowedLinkUrl(target.url) &&
      !over?.some((other) => addresses[other] !== null) &&
      claim(linked, target.id);
    addresses.push(isShown ? target.url : null);
  }
  return addresses;
}

/**
 * Writes links and images into a rendering, in time linear in its length.
 * @param onLength called with the bytes that are inserted into both texts, before anything is built
 */
export function splice(
  { html, markdown, places }: Rendered,
  resolve: Resolver,
  onLength?: (bytes: number) => void,
): Omit<Rendered, 'places'> {
  if (places === null) return { html, markdown };
  const splices: Splice[] = [];
  for (const [index, url] of shownLinks(places, resolve.link).entries()) {
    const place = places.links[index];
    if (url !== null && place !== undefined) splices.push(spliceLink(place, url));
  }
  // Any number of places may show the long text of one asset.
  const images = new Map<string, ShownImage | null>();
  for (const place of places.images) {
    const key = `${place.assetId} ${place.altText}`;
    let image = images.get(key);
    if (image === undefined) {
      image = showImage(resolve.asset(place.assetId), place.altText);
      images.set(key, image);
    }
    if (image !== null) splices.push(spliceImage(place, image));
  }
  onLength?.(lengthOf(splices));
  // In HTML only images of one gap touch; they keep their order.
  splices.sort((a, b) => a.html.start - b.html.start);
  return {
    html: insert(html, splices, 'html'),
    markdown: insert(markdown, splices, 'markdown'),
  };
}

function lengthOf(splices: readonly Splice[]): number {
  let bytes = 0;
  for (const { html, markdown } of splices) {
    for (const text of [html.before, html.after, markdown.before, markdown.after]) {
      bytes += Buffer.byteLength(text);
    }
  }
  return bytes;
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

/** An address that HTML and Markdown write as it is; an article can have a thousand. */
const PLAIN_URL = /^https?:\/\/[\w./~%:-]+$/;

function spliceLink(place: LinkPlace, url: string): Splice {
  const [htmlStart, htmlEnd] = place.html;
  const [start, end] = place.markdown;
  const isPlain = PLAIN_URL.test(url);
  const before = isPlain ? `<a href="${url}">` : openLink(url, null);
  const target = isPlain ? url : destination({ url, title: null });
  return {
    html: { start: htmlStart, end: htmlEnd, before, after: '</a>' },
    markdown: { start, end, before: '[', after: `](${target})` },
  };
}

/** An image without its caption. */
interface ShownImage {
  readonly html: string;
  readonly markdown: string;
  readonly url: string;
}

function showImage(asset: ReturnType<Resolver['asset']>, altText: string): ShownImage | null {
  if (asset === null || !isAllowedImageUrl(asset.url)) return null;
  const alt = altText || asset.altText;
  return {
    html: openImage(asset.url, alt, asset.size),
    markdown: `![${escapeAlt(alt)}]`,
    url: encodeUrl(asset.url),
  };
}

function spliceImage(place: ImagePlace, { html, markdown, url }: ShownImage): Splice {
  const target = destination({ url, title: place.caption ?? null });
  return {
    html: fill(place.html, showFigure(html, place.caption), '\n'),
    markdown: fill(place.markdown, `${markdown}(${target})`, '\n\n'),
  };
}

/** Inserts a block into the gap at `at`, after the separator; at the beginning of the text, before it. */
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

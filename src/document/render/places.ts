/**
 * Places are the positions in a rendering for the addresses of articles and images, which come from other rows. During
 * rendering each is marked with a NUL character, which no stored text contains.
 */
import { claim, hasArticleLinks, placeLinks } from '../format/links.ts';
import type { ArticleLink, Block, DocumentJson } from '../format/schema.ts';

/** A half-open range of UTF-16 offsets. */
type Range = readonly [start: number, end: number];

/** The words of a link, as plain text and as link content. */
export interface LinkPlace {
  readonly articleId: string;
  readonly html: Range;
  readonly markdown: Range;
  /** Earlier places, by index, that it overlaps; absent without any. */
  readonly over?: readonly number[];
}

/** A gap between blocks; the splice also writes the separator. */
export interface ImagePlace {
  readonly assetId: string;
  /** Empty to use the asset's own. */
  readonly altText: string;
  readonly caption?: string;
  readonly html: number;
  readonly markdown: number;
}

/** All places of a document as stored: links in the order of their entries, images from top to bottom. */
export interface Places {
  readonly links: readonly LinkPlace[];
  readonly images: readonly ImagePlace[];
}

/** Parses stored places (JSON text). */
export function parsePlaces(json: string): Places;
export function parsePlaces(json: string | null): Places | null;
export function parsePlaces(json: string | null): Places | null {
  return json === null ? null : (JSON.parse(json) as Places);
}

/** The ids of linked articles, each once. */
export const linkTargets = (places: Places | null): string[] =>
  places?.links.map(({ articleId }) => articleId) ?? [];

/** The ids of shown assets, each once. */
export const imageTargets = (places: Places): string[] => [
  ...new Set(places.images.map(({ assetId }) => assetId)),
];

/**
 * Whether one of the places shows the image.
 * @param ownText only where it shows the image's own alternative text
 */
export const showsImage = (places: Places | null, id: string, ownText = false): boolean =>
  places?.images.some(({ assetId, altText }) => assetId === id && (!ownText || altText === '')) ?? false;

/** The places of a copied document with copied assets. */
export function replaceAssetsInPlaces(
  places: Places | null,
  assetIds: ReadonlyMap<string, string>,
): Places | null {
  if (places === null) return null;
  const images = places.images.map((image) => ({
    ...image,
    assetId: assetIds.get(image.assetId) ?? image.assetId,
  }));
  return { ...places, images };
}

const MARK = '\0';
/** Marks have two characters. */
export const START_MARK = `${MARK}s`;
export const END_MARK = `${MARK}e`;
export const IMAGE_MARK = `${MARK}i`;

export const hasMarks = (text: string): boolean => text.includes(MARK);

/** A place with the numbers of its marks, in text order. */
interface MarkedLink {
  readonly link: ArticleLink;
  readonly over: readonly number[];
  start: number;
  end: number;
}
interface MarkedImage {
  readonly image: Extract<Block, { type: 'image' }>;
  readonly mark: number;
}

/** A document with marks in its texts for links. */
export interface MarkedDocument {
  readonly document: DocumentJson;
  readonly links: readonly MarkedLink[];
  readonly images: readonly MarkedImage[];
}

/** Marks the links of a document: per article the first one whose words occur (contract.md F4). */
export function markPlaces(document: DocumentJson): MarkedDocument {
  const claimed = new Set<string>();
  const links: MarkedLink[] = [];
  const images: MarkedImage[] = [];
  let marks = 0;

  const markText = (text: string, entries: readonly ArticleLink[]): string => {
    const placed: { index: number; start: number; end: number }[] = [];
    const edges: { at: number; isStart: boolean; link: MarkedLink }[] = [];
    for (const { link, start, end } of placeLinks(text, entries)) {
      // Links have no white space at their edges, in HTML and in Markdown.
      const words = link.text.trim();
      if (!claim(claimed, link.articleId) || words === '') continue;
      const over = placed.filter((other) => start < other.end && other.start < end).map(({ index }) => index);
      placed.push({ index: links.length, start, end });
      const marked: MarkedLink = { link, over, start: 0, end: 0 };
      links.push(marked);
      const from = start + link.text.indexOf(words);
      edges.push({ at: from, isStart: true, link: marked });
      edges.push({ at: from + words.length, isStart: false, link: marked });
    }
    edges.sort((a, b) => a.at - b.at || Number(b.isStart) - Number(a.isStart));
    let done = 0;
    const parts: string[] = [];
    for (const { at, isStart, link } of edges) {
      parts.push(text.slice(done, at), isStart ? START_MARK : END_MARK);
      link[isStart ? 'start' : 'end'] = marks;
      marks += 1;
      done = at;
    }
    return [...parts, text.slice(done)].join('');
  };

  const blocks = document.blocks.map((block): Block => {
    if (hasArticleLinks(block)) return { ...block, text: markText(block.text, block.links) };
    if (block.type === 'image') {
      images.push({ image: block, mark: marks });
      marks += 1;
    }
    return block;
  });
  return { document: { version: 1, blocks }, links, images };
}

/** A text without its marks, and the offset of each. */
export interface Unmarked {
  readonly text: string;
  readonly offsets: readonly number[];
}

/** Removes the marks from a text; an image's mark also removes the block separator on one side. */
export function takeMarks(marked: string, separator: string): Unmarked {
  const parts: string[] = [];
  const offsets: number[] = [];
  let length = 0;
  let from = 0;
  for (let at = marked.indexOf(MARK); at !== -1; at = marked.indexOf(MARK, from)) {
    let part = marked.slice(from, at);
    from = at + 2;
    if (marked.startsWith(IMAGE_MARK, at)) {
      if (length + part.length > 0) part = part.slice(0, -separator.length);
      else from = marked.startsWith(separator, from) ? from + separator.length : marked.length;
    }
    parts.push(part);
    length += part.length;
    offsets.push(length);
  }
  return { text: [...parts, marked.slice(from)].join(''), offsets };
}

/** Locates the places of a document from the marks of its two texts. */
export function locatePlaces({ links, images }: MarkedDocument, html: Unmarked, markdown: Unmarked): Places {
  const offset = ({ offsets }: Unmarked, mark: number): number => {
    const at = offsets[mark];
    if (at === undefined) throw new Error('A rendering has lost a place of its document.');
    return at;
  };
  const range = (text: Unmarked, { start, end }: MarkedLink): Range => [
    offset(text, start),
    offset(text, end),
  ];
  return {
    links: links.map((place) => ({
      articleId: place.link.articleId,
      html: range(html, place),
      markdown: range(markdown, place),
      ...(place.over.length > 0 ? { over: place.over } : {}),
    })),
    images: images.map(({ image: { assetId, altText, caption }, mark }) => ({
      assetId,
      altText,
      ...(caption ? { caption } : {}),
      html: offset(html, mark),
      markdown: offset(markdown, mark),
    })),
  };
}

/** Markdown files (CommonMark and GFM tables) to documentJson. */
import type {
  BlockContent,
  Blockquote,
  DefinitionContent,
  Image,
  ImageReference,
  List,
  Paragraph,
  RootContent,
  Table,
} from 'mdast';
import { type Block, type DocumentJson, MAX_ALT_TEXT, MAX_CODE_LANGUAGE } from '../format/schema.ts';
import { type InlineRun, runsText, textRun } from '../inline/runs.ts';
import { cutAtWord, firstCodePoints } from '../text/characters.ts';
import { htmlToParts } from '../text/html-text.ts';
import { isAllowedLinkUrl } from '../text/urls.ts';
import { fieldText, fieldTexts, type NewBlock } from './field-text.ts';
import { ListReader } from './list.ts';
import { type Definitions, parseMarkdown } from './parse.ts';
import { type ImportedImage, imageOf, isRemote, linkTo, readPhrasing } from './phrasing.ts';

export type { ImportedImage } from './phrasing.ts';

export interface ImportOptions {
  /**
   * Returns the asset id of a local image, or null to keep only its alt text. To upload images first, import once to
   * get `images`, then again with their ids.
   */
  readonly resolveImage?: (image: { path: string; alt: string }) => string | null;
  /** Keeps a level-1 first heading in the body: for callers that set the title themselves. */
  readonly keepTitleHeading?: boolean;
}

export interface ImportedMarkdown {
  /** The text of the first heading, or the front matter's title; null when there is neither. */
  readonly title: string | null;
  readonly document: DocumentJson;
  /** Every local image that becomes a block, in order, with repeats. */
  readonly images: readonly ImportedImage[];
  /** Number of images with an unusable address, such as `data:`; only their alt text is kept. */
  readonly unusable: number;
}

/**
 * Reads a Markdown file. The first heading is the title; a level-1 heading is removed from the body. Lists deeper than
 * four levels are flattened into the fourth, blocks inside list items follow their list, and raw HTML is reduced to its
 * text and images. Block ids are `b1`, `b2` …. The result is a valid document, except that it may be too large.
 */
export function importMarkdown(source: string, options: ImportOptions = {}): ImportedMarkdown {
  const { body, title: declared } = splitFrontMatter(source.toWellFormed().replaceAll('\0', '\ufffd'));
  const { nodes, definitions } = parseMarkdown(body);
  const importer = new Importer(definitions, options.resolveImage ?? (() => null));
  const first = nodes.find((node) => node.type === 'heading');
  const heading = first === undefined ? '' : importer.plain(first.children);
  const dropped =
    options.keepTitleHeading !== true && heading !== '' && first?.depth === 1 ? first : undefined;
  for (const node of nodes) if (node !== dropped) importer.read(node);
  const blocks = importer.blocks.map((block, index): Block => ({ id: `b${index + 1}`, ...block }));
  const { images, unusable } = importer;
  return { title: heading || declared, document: { version: 1, blocks }, images, unusable };
}

/**
 * Splits YAML front matter off a file. Only a one-line `title` is read from it. With a blank line after it, the first
 * `---` is a divider instead.
 */
function splitFrontMatter(source: string): { body: string; title: string | null } {
  const match = /^\ufeff?---[ \t]*\r?\n/.exec(source);
  const end = match === null ? null : /\r?\n---[ \t]*(?:\r?\n|$)/.exec(source.slice(match[0].length - 1));
  if (match === null || end === null) return { body: source, title: null };
  const start = match[0].length - 1;
  const fields = source.slice(start, start + end.index);
  if (!/^\r?\n?(?:[\w-]+[ \t]*:|#)/.test(fields)) return { body: source, title: null };
  const title = /^title[ \t]*:[ \t]*(["']?)([^\r\n]*)\1[ \t]*$/im.exec(fields)?.[2]?.trim();
  return { body: source.slice(start + end.index + end[0].length), title: title || null };
}

/** A dash and a name, on one or more lines. Further lines that begin with a dash are a dialogue, not an attribution. */
const ATTRIBUTION = /^(?:—|―|–|--)\s*(\S[^\n]*(?:\n(?!\s*(?:—|―|–|--))[^\n]*)*)$/u;

class Importer {
  readonly blocks: NewBlock[] = [];
  readonly images: ImportedImage[] = [];
  unusable = 0;
  private readonly definitions: Definitions;
  private readonly resolveImage: (image: { path: string; alt: string }) => string | null;

  constructor(
    definitions: Definitions,
    resolveImage: (image: { path: string; alt: string }) => string | null,
  ) {
    this.definitions = definitions;
    this.resolveImage = resolveImage;
  }

  /** The plain text of inline nodes on one line. */
  plain(nodes: Paragraph['children']): string {
    return runsText(readPhrasing(nodes, this.definitions).runs).replace(/\s+/g, ' ').trim();
  }

  read(node: RootContent | BlockContent | DefinitionContent): void {
    switch (node.type) {
      case 'heading': {
        const { runs, images } = readPhrasing(node.children, this.definitions);
        if (runs.length > 0) {
          const level = node.depth;
          this.blocks.push({ type: 'heading', level, ...fieldText(runs) });
        }
        for (const image of images) this.image(image);
        break;
      }
      case 'paragraph':
        this.paragraph(node);
        break;
      case 'list':
        this.list(node);
        break;
      case 'blockquote':
        this.quote(node);
        break;
      case 'code': {
        const language = firstCodePoints(node.lang ?? '', MAX_CODE_LANGUAGE);
        this.blocks.push({ type: 'code', text: node.value, ...(language === '' ? {} : { language }) });
        break;
      }
      case 'table':
        this.table(node);
        break;
      case 'thematicBreak':
        this.blocks.push({ type: 'divider' });
        break;
      case 'html':
        for (const part of htmlToParts(node.value)) {
          if (typeof part !== 'string') this.image(part);
          else this.lines(part);
        }
        break;
      default:
        break;
    }
  }

  /** One paragraph per non-blank line. */
  private lines(text: string): void {
    for (const line of text.split('\n')) {
      const shown = line.replace(/\s+/g, ' ').trim();
      if (shown !== '') this.blocks.push({ type: 'paragraph', text: shown });
    }
  }

  private paragraph(node: Paragraph): void {
    const images = onlyImages(node);
    if (images !== null) {
      for (const image of images) {
        const found = imageOf(image, this.definitions);
        if (found !== null) this.image(found);
      }
      return;
    }
    const { runs, images: inline } = readPhrasing(node.children, this.definitions);
    if (runs.length > 0) this.blocks.push({ type: 'paragraph', ...fieldText(runs) });
    for (const image of inline) this.image(image);
  }

  /** A local image becomes an image block, a remote one a paragraph with a link. */
  private image(image: ImportedImage): void {
    if (isRemote(image.url)) {
      if (isAllowedLinkUrl(image.url)) {
        const run: InlineRun = { ...textRun(image.alt || image.url), link: linkTo(image) };
        this.blocks.push({ type: 'paragraph', ...fieldText([run]) });
      } else {
        this.unusable += 1;
        if (image.alt !== '') this.blocks.push({ type: 'paragraph', text: image.alt });
      }
      return;
    }
    this.images.push(image);
    const assetId = this.resolveImage({ path: localPath(image.url), alt: image.alt });
    if (assetId !== null) {
      const caption = image.title === null ? {} : { caption: image.title };
      this.blocks.push({ type: 'image', assetId, altText: cutAtWord(image.alt, MAX_ALT_TEXT), ...caption });
    } else if (image.alt !== '') {
      this.blocks.push({ type: 'paragraph', text: image.alt });
    }
  }

  private list(node: List): void {
    const reader = new ListReader(this.definitions);
    for (const part of reader.read(node)) {
      if (part.type === 'list') this.blocks.push(part.block);
      else if (part.type === 'image') this.image(part.image);
      else this.read(part.node);
    }
  }

  /** Paragraphs of a quote become one quote block; other blocks in it become separate blocks. */
  private quote(node: Blockquote): void {
    let lines: InlineRun[][] = [];
    const flush = (): void => {
      if (lines.length > 0) this.pushQuote(lines);
      lines = [];
    };
    for (const child of node.children) {
      if (child.type === 'paragraph' && onlyImages(child) === null) {
        const { runs, images } = readPhrasing(child.children, this.definitions);
        if (runs.length > 0) lines.push(runs);
        if (images.length > 0) flush();
        for (const image of images) this.image(image);
      } else {
        flush();
        this.read(child);
      }
    }
    flush();
  }

  private pushQuote(paragraphs: InlineRun[][]): void {
    const last = paragraphs.at(-1);
    const author =
      paragraphs.length > 1 && last !== undefined ? ATTRIBUTION.exec(runsText(last))?.[1] : undefined;
    const kept = author === undefined ? paragraphs : paragraphs.slice(0, -1);
    const space = textRun('\n\n');
    const runs = kept.flatMap((paragraph, index) => (index === 0 ? paragraph : [space, ...paragraph]));
    this.blocks.push({
      type: 'quote',
      ...fieldText(runs),
      ...(author === undefined ? {} : { attribution: author }),
    });
  }

  private table(node: Table): void {
    const [head, ...body] = node.children;
    const columns = head?.children.length ?? 0;
    if (head === undefined || columns === 0) return;
    const inline: ImportedImage[] = [];
    const cells = [head, ...body].flatMap((row) =>
      Array.from({ length: columns }, (_, column) => {
        const { runs, images } = readPhrasing(row.children[column]?.children ?? [], this.definitions);
        inline.push(...images);
        return runs;
      }),
    );
    const { texts, ...format } = fieldTexts(cells);
    const rows = body.map((_, index) => texts.slice((index + 1) * columns, (index + 2) * columns));
    const align = Array.from({ length: columns }, (_, column) => node.align?.[column] ?? null);
    const aligned = align.some((entry) => entry !== null) ? { align } : {};
    this.blocks.push({ type: 'table', header: texts.slice(0, columns), rows, ...aligned, ...format });
    for (const image of inline) this.image(image);
  }
}

/** The images of a paragraph that contains only images; null when it has text. */
function onlyImages(node: Paragraph): (Image | ImageReference)[] | null {
  const images: (Image | ImageReference)[] = [];
  for (const child of node.children) {
    if (child.type === 'image' || child.type === 'imageReference') images.push(child);
    else if (child.type !== 'break' && !(child.type === 'text' && child.value.trim() === '')) return null;
  }
  return images.length > 0 ? images : null;
}

/** The file path in an image's address: without query and fragment, percent-decoded. */
function localPath(url: string): string {
  const path = url.split(/[?#]/, 1).join('');
  try {
    const decoded = decodeURIComponent(path);
    return decoded.includes('\0') ? path : decoded;
  } catch {
    return path;
  }
}

/** Inline content of an imported Markdown file as runs, with the images it held. */
import type { Image, ImageReference, PhrasingContent } from 'mdast';
import {
  type InlineRun,
  type LinkTarget,
  type Marks,
  NO_MARKS,
  normalizeRuns,
  textRun,
} from '../inline/runs.ts';
import { cutAtWord } from '../text/characters.ts';
import { htmlToParts } from '../text/html-text.ts';
import { MAX_LINK_TITLE } from '../text/marks.ts';
import { isAllowedLinkUrl } from '../text/urls.ts';
import type { Definitions } from './parse.ts';

/** An image as the file writes it. */
export interface ImportedImage {
  readonly url: string;
  readonly alt: string;
  readonly title: string | null;
}

/** The image behind an image node or reference; null when its definition is missing. */
export function imageOf(node: Image | ImageReference, definitions: Definitions): ImportedImage | null {
  const target = node.type === 'image' ? node : definitions.get(node.identifier);
  return target === undefined ? null : { url: target.url, alt: node.alt ?? '', title: target.title || null };
}

/** A link with its title cut to the maximum length. */
export function linkTo({ url, title }: { url: string; title?: string | null | undefined }): LinkTarget {
  return { url, title: title ? cutAtWord(title, MAX_LINK_TITLE) : null };
}

/** True for an address on another machine, not a local file. */
export function isRemote(url: string): boolean {
  return /^(?:[a-z][a-z0-9+.-]*:|\/\/)/i.test(url);
}

/** Inline content: its text as runs, and its local and unusable images. */
export interface Phrasing {
  readonly runs: InlineRun[];
  readonly images: readonly ImportedImage[];
}

/**
 * Reads inline nodes. Soft line ends become spaces (or nothing in scripts without spaces); hard breaks stay. HTML tags
 * are removed, their text stays. Remote images become links, local ones are returned. An unusable image leaves its alt
 * text and is returned without it.
 */
export function readPhrasing(nodes: readonly PhrasingContent[], definitions: Definitions): Phrasing {
  const runs: InlineRun[] = [];
  const images: ImportedImage[] = [];
  const stack: { node: PhrasingContent; marks: Marks }[] = [];
  const push = (children: readonly PhrasingContent[], marks: Marks): void => {
    for (const node of [...children].reverse()) stack.push({ node, marks });
  };
  const add = (text: string, marks: Marks): void => {
    runs.push({ ...textRun(text), ...marks });
  };
  const addImage = (image: ImportedImage, marks: Marks): void => {
    if (marks.link !== null) add(image.alt || marks.link.url, marks);
    else if (!isRemote(image.url)) images.push(image);
    else if (isAllowedLinkUrl(image.url)) add(image.alt || image.url, { ...marks, link: linkTo(image) });
    else {
      add(image.alt, marks);
      images.push({ ...image, alt: '' });
    }
  };
  push(nodes, NO_MARKS);
  for (let entry = stack.pop(); entry !== undefined; entry = stack.pop()) {
    const { node, marks } = entry;
    switch (node.type) {
      case 'text':
        add(unwrapLines(node.value), marks);
        break;
      case 'inlineCode':
        runs.push({ kind: 'code', text: node.value.replace(/\s/g, ' '), ...marks });
        break;
      case 'break':
        add('\n', marks);
        break;
      case 'html':
        for (const part of htmlToParts(node.value)) {
          if (typeof part === 'string') add(part, marks);
          else addImage(part, marks);
        }
        break;
      case 'strong':
      case 'emphasis':
        push(node.children, { ...marks, [node.type]: true });
        break;
      case 'link':
      case 'linkReference': {
        const target = node.type === 'link' ? node : definitions.get(node.identifier);
        const allowed = target !== undefined && isAllowedLinkUrl(target.url);
        const link = allowed ? linkTo(target) : marks.link;
        push(node.children, { ...marks, link });
        break;
      }
      case 'image':
      case 'imageReference': {
        const image = imageOf(node, definitions);
        if (image === null) add(node.alt ?? '', marks);
        else addImage(image, marks);
        break;
      }
      default:
        if ('children' in node) push(node.children as readonly PhrasingContent[], marks);
    }
  }
  return { runs: trimRuns(normalizeRuns(runs)), images };
}

const NO_SPACE_SCRIPT = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}、。，！？：；「」『』（）]/u;

function unwrapLines(text: string): string {
  if (!text.includes('\n')) return text;
  const lines = text.split(/\r?\n/);
  const spaced = lines.map((line, index) => {
    const next = lines[index + 1];
    if (next === undefined) return line;
    const tight = NO_SPACE_SCRIPT.test(line.at(-1) ?? '') && NO_SPACE_SCRIPT.test(next.at(0) ?? '');
    return tight ? line : `${line} `;
  });
  return spaced.join('');
}

/** The runs without white space at the edges of the text and of its lines. */
function trimRuns(runs: readonly InlineRun[]): InlineRun[] {
  const result = runs.map((run) =>
    run.kind === 'text' && run.text.includes('\n')
      ? {
          ...run,
          text: run.text
            .split('\n')
            .map((line, at, all) => trimLine(line, at > 0, at < all.length - 1))
            .join('\n'),
        }
      : run,
  );
  while (result[0]?.kind === 'text' && result[0].text.trimStart() !== result[0].text) {
    result[0] = { ...result[0], text: result[0].text.trimStart() };
    if (result[0].text === '') result.shift();
  }
  for (
    let last = result.at(-1);
    last?.kind === 'text' && last.text.trimEnd() !== last.text;
    last = result.at(-1)
  ) {
    result[result.length - 1] = { ...last, text: last.text.trimEnd() };
    if (last.text.trimEnd() === '') result.pop();
  }
  return normalizeRuns(result);
}

function trimLine(line: string, start: boolean, end: boolean): string {
  const trimmed = start ? line.trimStart() : line;
  return end ? trimmed.trimEnd() : trimmed;
}

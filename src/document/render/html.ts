/** Renders documentJson as HTML. Safe by construction: tags are written only here, everything else is escaped. */

import type { Block, DocumentJson, SubList, TableBlock } from '../format/schema.ts';
import { parseInline } from '../inline/parse.ts';
import { type InlineNode, nestRuns } from '../inline/runs.ts';
import { encodeUrl } from '../text/urls.ts';
import { IMAGE_MARK } from './places.ts';
import { codeLanguage } from './shared.ts';

/** The document as sanitised HTML, one element per line, with the marks of links and images. */
export function renderHtml(document: DocumentJson): string {
  return document.blocks.map(renderBlock).join('\n');
}

function escapeHtml(text: string): string {
  if (!/[&<>"']/.test(text)) return text;
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

/** Text with its line breaks. */
function showLines(text: string): string {
  return escapeHtml(text).replace(/\r\n?|\n/g, '<br>');
}

function inline(nodes: readonly InlineNode[]): string {
  return nodes.map(inlineNode).join('');
}

function inlineNode(node: InlineNode): string {
  switch (node.type) {
    case 'text':
      return showLines(node.text);
    case 'code':
      return `<code>${escapeHtml(node.text)}</code>`;
    case 'strong':
      return `<strong>${inline(node.children)}</strong>`;
    case 'emphasis':
      return `<em>${inline(node.children)}</em>`;
    case 'link':
      return `${openLink(node.link.url, node.link.title)}${inline(node.children)}</a>`;
  }
}

/** The tag before a link's words. */
export function openLink(url: string, title: string | null): string {
  return `<a href="${escapeHtml(encodeUrl(url))}"${title ? ` title="${escapeHtml(title)}"` : ''}>`;
}

/** Pixels. */
export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** The tag of an image. */
export function openImage(url: string, alt: string, size: ImageSize | null): string {
  // With its size a page keeps its place before the image has come (contract.md F53).
  const pixels = size === null ? '' : ` width="${size.width}" height="${size.height}"`;
  return `<img src="${escapeHtml(encodeUrl(url))}" alt="${escapeHtml(alt)}"${pixels} loading="lazy">`;
}

/** An image's tag as a block. */
export function showFigure(image: string, caption: string | undefined): string {
  const label = caption ? `<figcaption>${showLines(caption)}</figcaption>` : '';
  return `<figure>${image}${label}</figure>`;
}

function renderBlock(block: Block): string {
  const text = (value: string, format: 'markdown' | undefined): string =>
    format === 'markdown' ? inline(nestRuns(parseInline(value))) : showLines(value);
  switch (block.type) {
    case 'heading':
      return `<h${block.level}>${text(block.text, block.format)}</h${block.level}>`;
    case 'paragraph':
      return `<p>${text(block.text, block.format)}</p>`;
    case 'quote': {
      const by = block.attribution ? `<footer>${showLines(block.attribution)}</footer>` : '';
      return `<blockquote><p>${text(block.text, block.format)}</p>${by}</blockquote>`;
    }
    case 'list':
      return renderList(block, (item) => text(item, block.format));
    case 'table':
      return renderTable(block, (cell) => text(cell, block.format));
    case 'image':
      return IMAGE_MARK;
    case 'code': {
      const language = codeLanguage(block.language);
      const label = language === '' ? '' : ` class="language-${language}"`;
      return `<pre><code${label}>${escapeHtml(block.text)}</code></pre>`;
    }
    case 'divider':
      return '<hr>';
  }
}

function renderList(list: SubList, show: (item: string) => string): string {
  const tag = list.ordered ? 'ol' : 'ul';
  const items = list.items.map((item, index) => {
    const child = list.children?.[index];
    return `<li>${show(item)}${child ? renderList(child, show) : ''}</li>`;
  });
  return `<${tag}>${items.join('')}</${tag}>`;
}

function renderTable(table: TableBlock, show: (cell: string) => string): string {
  const row = (cells: readonly string[], tag: 'th' | 'td'): string => {
    const shown = cells.map((cell, column) => {
      const side = table.align?.[column];
      return `<${tag}${side ? ` align="${side}"` : ''}>${show(cell)}</${tag}>`;
    });
    return `<tr>${shown.join('')}</tr>`;
  };
  const rows = table.rows.map((cells) => row(cells, 'td')).join('');
  const body = rows === '' ? '' : `<tbody>${rows}</tbody>`;
  return `<table><thead>${row(table.header, 'th')}</thead>${body}</table>`;
}

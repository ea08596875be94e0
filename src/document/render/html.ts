/** documentJson to HTML. Safe by construction: tags are written here only, everything else is escaped. */

import type { Block, DocumentJson, SubList, TableBlock } from '../format/schema.ts';
import { type InlineNode, nestRuns } from '../inline/runs.ts';
import { ParsedTexts } from '../inline/texts.ts';
import { encodeUrl } from '../text/urls.ts';
import { codeLanguage, RenderPass, type Resolver } from './shared.ts';

/** The document as sanitised HTML, one element a line. */
export function renderHtml(document: DocumentJson, resolve: Resolver, texts = new ParsedTexts()): string {
  const pass = new RenderPass(resolve, texts);
  return document.blocks
    .map((block) => renderBlock(block, pass))
    .filter((html) => html !== '')
    .join('\n');
}

function escapeHtml(text: string): string {
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
    case 'link': {
      const title = node.link.title ? ` title="${escapeHtml(node.link.title)}"` : '';
      return `<a href="${escapeHtml(encodeUrl(node.link.url))}"${title}>${inline(node.children)}</a>`;
    }
  }
}

function renderBlock(block: Block, pass: RenderPass): string {
  const text = (value: string, format: 'markdown' | undefined): string =>
    inline(nestRuns(pass.runs({ text: value, format })));
  switch (block.type) {
    case 'heading':
      return `<h${block.level}>${text(block.text, block.format)}</h${block.level}>`;
    case 'paragraph':
      return `<p>${inline(nestRuns(pass.runs(block)))}</p>`;
    case 'quote': {
      const by = block.attribution ? `<footer>${showLines(block.attribution)}</footer>` : '';
      return `<blockquote><p>${inline(nestRuns(pass.runs(block)))}</p>${by}</blockquote>`;
    }
    case 'list':
      return renderList(block, (item) => text(item, block.format));
    case 'table':
      return renderTable(block, (cell) => text(cell, block.format));
    case 'image': {
      const image = pass.image(block);
      if (image === null) return '';
      const caption = block.caption ? `<figcaption>${showLines(block.caption)}</figcaption>` : '';
      const source = escapeHtml(encodeUrl(image.url));
      return `<figure><img src="${source}" alt="${escapeHtml(image.alt)}">${caption}</figure>`;
    }
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
